// A project of somebody who uses the package: packed, installed and type-checked as it would be there.

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const home = fileURLToPath(new URL("../..", import.meta.url));
const tsc = join(home, "node_modules/typescript/bin/tsc");

/** The archive that would be published, and the names in it. */
export async function packed() {
  const place = await mkdtemp(join(tmpdir(), "sandkeep-pack-"));
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", place];
  const { stdout } = await run("npm", args, { cwd: home });
  const [{ filename, files }] = JSON.parse(stdout);
  const remove = () => rm(place, { recursive: true });
  return { archive: join(place, filename), names: files.map((file) => file.path), remove };
}

/** A new project of this type, with the archive installed, and `packages` that are installed here. */
export async function project(type, archive, packages = []) {
  const place = await mkdtemp(join(tmpdir(), "sandkeep-project-"));
  await writeFile(
    join(place, "package.json"),
    JSON.stringify({ name: "scratch", type, private: true }),
  );
  await run("npm", ["install", "--offline", "--ignore-scripts", "--no-audit", archive], {
    cwd: place,
  });
  for (const name of packages) {
    const link = join(place, "node_modules", name);
    await mkdir(join(link, ".."), { recursive: true });
    await symlink(join(home, "node_modules", name), link);
  }
  const write = async (name, text) => {
    await mkdir(join(place, name, ".."), { recursive: true });
    await writeFile(join(place, name), text);
  };
  return {
    place,
    write,
    read: (name) => readFile(join(place, name), "utf8"),
    check: (options) => checked(place, write, options),
    run: (name, env) =>
      run(process.execPath, [name], { cwd: place, env: { ...process.env, ...env } }),
    remove: () => rm(place, { recursive: true }),
  };
}

/** Type-checks everything in `src`, strictly and with the types of libraries, and compiles it to `out`. */
async function checked(place, write, options) {
  const compilerOptions = {
    ...{ target: "ES2022", strict: true, skipLibCheck: false, rootDir: "src", outDir: "out" },
    ...{ typeRoots: [join(home, "node_modules/@types")], types: ["node"] },
    ...options,
  };
  await write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["src"] }));
  await run(process.execPath, [tsc], { cwd: place }).catch((error) => {
    throw new Error(error.stdout);
  });
}
