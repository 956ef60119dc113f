// Every TypeScript example of the README is type-checked and run, in a project that has the package.

import { strict as assert } from "node:assert";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { serveSandboxes } from "../../../tests/program.mjs";
import { packed, project } from "./harness/project.js";

/** What the README says that its examples go on from. */
const BEFORE = `import { Sandkeep as Server } from "sandkeep";
const keep = new Server({ baseUrl: "http://127.0.0.1:2468", token: process.env["SANDKEEP_TOKEN"] });
const sandbox = await keep.sandboxes.create();
const { files } = sandbox;
`;

const text = await readFile(new URL("../README.md", import.meta.url), "utf8");
const examples = examplesOf(text);

describe("the README", () => {
  let [server, pack, user] = [];

  before(async () => {
    [server, pack] = await Promise.all([serveSandboxes(), packed()]);
    user = await project("module", pack.archive, ["zod"]);
    for (const [at, { code }] of examples.entries()) {
      await user.write(`src/example-${at}.ts`, program(code, server.baseUrl));
    }
    await user.check({ module: "node16", lib: ["ES2022"] });
  });
  after(async () => {
    await user?.remove();
    await pack?.remove();
    await server?.close();
  });

  it("has an example for every area", () => {
    assert.ok(examples.length >= 20, `${examples.length} examples`);
    const code = examples.map((example) => example.code).join("\n");
    const methods = ["read", "write", "delete", "mkdir", "move", "stat", "list", "upload"];
    for (const method of methods) assert.ok(code.includes(`tree.${method}`), method);
  });

  for (const [at, { title, code }] of examples.entries()) {
    it(`runs example ${at + 1}, of ${title}`, async () => {
      const env = { SANDKEEP_TOKEN: server.token };
      const { stdout, stderr } = await user.run(`out/example-${at}.js`, env);
      assert.equal(stderr, "");
      if (code.includes("console.log")) assert.notEqual(stdout, "");
    });
  }

  it("says what its first example prints", async () => {
    const { stdout } = await user.run("out/example-0.js", { SANDKEEP_TOKEN: server.token });
    assert.equal(stdout, 'print("goodbye")\n\nprint("hello")\n\n');
  });
});

function examplesOf(markdown) {
  const found = [];
  let title = "the beginning";
  for (const [, heading, code] of markdown.matchAll(/^## (.+)$|^```ts\n([\s\S]*?)^```$/gm)) {
    if (heading !== undefined) title = heading;
    else found.push({ title, code });
  }
  return found;
}

function program(code, baseUrl) {
  const isWhole = code.includes("new Sandkeep({ baseUrl") && code.includes("keep.sandboxes.create");
  const isFirst = isWhole && code.includes("const keep =");
  return (isFirst ? code : BEFORE + code).replaceAll("http://127.0.0.1:2468", baseUrl);
}
