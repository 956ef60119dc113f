// The package as it would be published, installed by somebody who uses ES modules or CommonJS.

import { strict as assert } from "node:assert";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { serveSandboxes } from "../../../tests/program.mjs";
import { packed, project } from "./harness/project.js";

/** Uses values and types of the package, so that what is missing or wrong is seen by the compiler. */
const PROGRAM = `
import { type Entry, type Notice, Sandkeep, SandkeepError, type Written } from "sandkeep";
import { type FsEntry, type FsStat, SandboxAgentClient } from "sandkeep";

async function main(): Promise<void> {
  const keep = new Sandkeep({ baseUrl: process.env["SANDKEEP_URL"]!, token: process.env["SANDKEEP_TOKEN"] });
  const sandbox = await keep.sandboxes.create({ labels: { made: "here" } });
  const written: Written = await sandbox.files.write("a.txt", new Blob(["hello"]).stream());
  const entries: Entry[] = await sandbox.files.list().all();
  for await (const notice of sandbox.files.watch()) {
    const { change }: Notice = notice;
    if (change === "here") break;
  }
  // @ts-expect-error a path is a text
  await sandbox.files.read(1).catch(() => {});
  const error: unknown = await sandbox.files.read("none").catch((error: unknown) => error);
  if (!(error instanceof SandkeepError) || error.kind !== "not_found") throw error;
  const bytes: Uint8Array = await sandbox.files.read("a.txt");
  console.log(written.size, entries.length, new TextDecoder().decode(bytes), error.status);

  const client = new SandboxAgentClient({
    baseUrl: process.env["SANDKEEP_URL"]!,
    token: process.env["SANDKEEP_TOKEN"],
    agent: "mock",
  });
  const { path } = await client.mkdirFs({ path: sandbox.id });
  const { bytes_written } = await client.writeFsFile({ path: path + "/b.txt" }, Buffer.from("hello"));
  const [entry]: FsEntry[] = await client.listFsEntries({ path, sessionId: null });
  const stat: FsStat = await client.statFs({ path: entry!.path });
  // @ts-expect-error a move says where to
  await client.moveFs({ from: path }).catch(() => {});
  console.log(bytes_written, entry!.name, stat.entryType, stat.entry_type);
}

main();
`;
const EXPECTED = "5 1 hello 404\n5 b.txt file file\n";

describe("the package", () => {
  let [server, pack] = [];
  const env = () => ({ SANDKEEP_URL: server.baseUrl, SANDKEEP_TOKEN: server.token });

  before(async () => {
    [server, pack] = await Promise.all([serveSandboxes(), packed()]);
  });
  after(async () => {
    await pack?.remove();
    await server?.close();
  });

  it("holds what is needed and nothing else", () => {
    const isFine = (name) =>
      /^dist\/(esm|cjs)\/.*\.(js|d\.ts|map)$/.test(name) ||
      ["package.json", "README.md", "LICENSE", "dist/cjs/package.json"].includes(name);
    assert.deepEqual(
      pack.names.filter((name) => !isFine(name)),
      [],
    );
    for (const name of ["LICENSE", "README.md", "dist/esm/index.js", "dist/cjs/index.d.ts"]) {
      assert.ok(pack.names.includes(name), name);
    }
  });

  it("tells servers its own version", async () => {
    const read = (name) => readFile(new URL(`../${name}`, import.meta.url), "utf8");
    const { version } = JSON.parse(await read("package.json"));
    const said = (await read("src/agent/connection.ts")).match(/version: "(.*)"/)[1];
    assert.equal(said, version);
  });

  it("knows every kind of failure that the contract knows", async () => {
    const [contract, own] = await Promise.all([
      readFile(new URL("../../../contract/errors.md", import.meta.url), "utf8"),
      readFile(new URL("../src/errors.ts", import.meta.url), "utf8"),
    ]);
    const kinds = [...contract.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, kind]) => kind);
    assert.ok(kinds.length > 30, `${kinds.length} kinds`);
    assert.deepEqual(
      kinds.filter((kind) => !own.includes(`"${kind}"`)),
      [],
    );
  });

  it("works in a project of ES modules, by the rules of Node and of bundlers", async () => {
    const user = await project("module", pack.archive);
    await user.write("src/main.ts", PROGRAM);
    await user.check({ module: "ES2022", moduleResolution: "bundler", lib: ["ES2022", "DOM"] });
    await user.check({ module: "node16", lib: ["ES2022"] });
    assert.equal((await user.run("out/main.js", env())).stdout, EXPECTED);
    const { packages } = JSON.parse(await user.read("package-lock.json"));
    assert.deepEqual(Object.keys(packages), ["", "node_modules/sandkeep"], "it depends on nothing");
    await user.remove();
  });

  it("works in a project of CommonJS", async () => {
    const user = await project("commonjs", pack.archive);
    await user.write("src/main.ts", PROGRAM);
    await user.check({ module: "node16", lib: ["ES2022"] });
    assert.match(await user.read("out/main.js"), /require\("sandkeep"\)/);
    assert.equal((await user.run("out/main.js", env())).stdout, EXPECTED);
    await user.remove();
  });
});
