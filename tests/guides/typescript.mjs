// The TypeScript of a guide as one program of a project of its own, which has the packed SDK
// installed as any user would: first type-checked, then run.

import { execFile } from "node:child_process";
import { mkdir, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { emptyDirectory, serve } from "../program.mjs";
import { asProgram } from "./guide.mjs";
import { byBlock, MARK } from "./output.mjs";

const SDK = fileURLToPath(new URL("../../sdks/typescript", import.meta.url));
const TOOLS = fileURLToPath(new URL("node_modules", import.meta.url));
const PORT = /127\.0\.0\.1:2468/g;

const SETTINGS = {
  compilerOptions: {
    strict: true,
    noUnusedLocals: true,
    target: "es2022",
    module: "nodenext",
    sourceMap: true,
    outDir: "out",
    types: ["node"],
  },
  files: ["guide.ts"],
};

/** What each block printed, by its line, and how the program ended. */
export async function runTypeScript(blocks) {
  const place = await emptyDirectory();
  const server = await serve(join(place, "demo"), ...flags(blocks));
  try {
    await makeProject(place, blocks, new URL(server.baseUrl).host);
    return await run(place, server.token);
  } finally {
    await server.stop();
    await rm(place, { recursive: true });
  }
}

// The server is started as the guide says, but for its port and token.
function flags(blocks) {
  const [, given] = blocks[0].text.match(/sandkeep serve \.\/demo (.*) --token/);
  return given.split(" ");
}

async function makeProject(place, blocks, address) {
  const program = asProgram(blocks, "ts", (line) => `console.log("${MARK}${line}");`);
  await writeFile(join(place, "guide.ts"), program.replace(PORT, address));
  await writeFile(join(place, "tsconfig.json"), JSON.stringify(SETTINGS));
  await writeFile(join(place, "package.json"), '{ "type": "module", "private": true }');
  await installSdk(place);
}

// As npm would lay it out, from the archive that would be published; its tools need zod.
async function installSdk(place) {
  const modules = join(place, "node_modules");
  await mkdir(join(modules, "@types"), { recursive: true });
  await symlink(join(TOOLS, "@types", "node"), join(modules, "@types", "node"));
  await symlink(join(TOOLS, "zod"), join(modules, "zod"));
  const build = (await isBuilt()) ? ["--ignore-scripts"] : [];
  const options = ["--silent", ...build, "--pack-destination", place];
  const packed = await done("npm", ["pack", SDK, ...options], place);
  await done("tar", ["-xzf", packed.stdout.trim().split("\n").at(-1)], place);
  await done("mv", ["package", join(modules, "sandkeep")], place);
}

// Nothing of the sources is newer than what was made of them.
async function isBuilt() {
  const built = await stat(join(SDK, "dist/esm/index.js")).catch(() => undefined);
  const sources = await readdir(join(SDK, "src"), { recursive: true });
  const times = sources.map(async (name) => (await stat(join(SDK, "src", name))).mtimeMs);
  return Math.max(...(await Promise.all(times))) < (built?.mtimeMs ?? 0);
}

async function run(place, token) {
  const checked = await done(process.execPath, [join(TOOLS, "typescript/bin/tsc")], place);
  if (checked.code !== 0) return { ...checked, printed: new Map() };
  const env = { ...process.env, SANDKEEP_TOKEN: token };
  const ran = await done(process.execPath, ["--enable-source-maps", "out/guide.js"], place, env);
  return { ...ran, printed: byBlock(ran.stdout) };
}

/** Runs a program to its end; one that does not end is stopped. */
async function done(program, args, cwd, env = process.env) {
  try {
    const { stdout, stderr } = await promisify(execFile)(program, args, { cwd, env, timeout: 60_000 });
    return { code: 0, stdout, stderr };
  } catch ({ code, stdout, stderr, message }) {
    return { code: code ?? 1, stdout: stdout ?? "", stderr: `${stdout ?? ""}${stderr ?? message}` };
  }
}
