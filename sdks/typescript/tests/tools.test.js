// `sandkeep/tools` as it is installed: in ES modules and CommonJS, with frameworks, and its examples.

import { strict as assert } from "node:assert";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { serveSandboxes } from "../../../tests/program.mjs";
import { packed, project } from "./harness/project.js";

/** Uses types of the tools, so that what is missing or wrong is seen by the compiler. */
const PROGRAM = `
import {
  createTools, dataOf, openAiTools, SandboxReadFile, ToolBase, type ReadFileData, type ToolResult,
} from "sandkeep/tools";
import { Sandkeep } from "sandkeep";

class Shout extends ToolBase<{ text: string }, string> {
  readonly name = "shout";
  readonly description = "Says it louder.";
  readonly parameters = createTools(keep).exists.parameters;
  async execute({ text }: { text: string }): Promise<ToolResult<string>> {
    const metadata = { tool: this.name, durationMs: 0 };
    return { success: true, data: text.toUpperCase(), error: null, metadata };
  }
}

const keep = new Sandkeep({ baseUrl: process.env["SANDKEEP_URL"]!, token: process.env["SANDKEEP_TOKEN"] });

async function main(): Promise<void> {
  const sandbox = await keep.sandboxes.create();
  const tools = createTools(sandbox, { timeoutMs: 5_000 });
  const written = await tools.writeFile.execute({ path: "a.txt", content: new Uint8Array([104, 105]) });
  if (!written.success) throw new Error(written.error);
  const size: number = written.data.bytesWritten;
  const read: ToolResult<ReadFileData> = await tools.readFile.execute({ path: "a.txt" });
  const text: string = dataOf(read).content;
  const bytes: Uint8Array = dataOf(await tools.readFile.execute({ path: "a.txt" }, { as: "bytes" })).content;
  const one = new SandboxReadFile(sandbox, { defaultEncoding: "utf-8", maxFileSize: 10, allowedPaths: ["."] });
  const now: string | undefined = one.executeSync({ path: "none" }).metadata.kind;
  // @ts-expect-error it has no such argument
  await tools.exists.execute({ path: "a", recursive: true });
  // @ts-expect-error content is text or bytes
  await tools.writeFile.execute({ path: "a", content: 5 });
  // @ts-expect-error data is there only if it was done
  read.data.content;
  // @ts-expect-error there is no such setting
  if (size < 0) createTools(sandbox, { maxFilesize: 5 });
  console.log(size, text, bytes.byteLength, now, openAiTools(tools).length);
  console.log(dataOf(await new Shout().execute({ text })));
}

main();
`;
const EXPECTED = "2 hi 2 not_found 18\nHI\n";

describe("the tools, installed", () => {
  let [server, pack] = [];
  const env = () => ({ SANDKEEP_URL: server.baseUrl, SANDKEEP_TOKEN: server.token });

  before(async () => {
    [server, pack] = await Promise.all([serveSandboxes(), packed()]);
  });
  after(async () => {
    await pack?.remove();
    await server?.close();
  });

  it("work in a project of ES modules, by the rules of Node and of bundlers", async () => {
    const user = await project("module", pack.archive, ["zod"]);
    await user.write("src/main.ts", PROGRAM);
    await user.check({ module: "ES2022", moduleResolution: "bundler", lib: ["ES2022", "DOM"] });
    await user.check({ module: "node16", lib: ["ES2022"] });
    assert.equal((await user.run("out/main.js", env())).stdout, EXPECTED);
    await user.remove();
  });

  it("work in a project of CommonJS", async () => {
    const user = await project("commonjs", pack.archive, ["zod"]);
    await user.write("src/main.ts", PROGRAM);
    await user.check({ module: "node16", lib: ["ES2022"] });
    assert.match(await user.read("out/main.js"), /require\("sandkeep\/tools"\)/);
    assert.equal((await user.run("out/main.js", env())).stdout, EXPECTED);
    await user.remove();
  });

  it("need zod, and the rest of the package does not", async () => {
    const user = await project("module", pack.archive);
    await user.write("main.js", 'await import("sandkeep"); await import("sandkeep/tools");');
    await assert.rejects(user.run("main.js", {}), /Cannot find package 'zod'/);
    await user.remove();
  });

  it("run their examples: files go from one step to the next, and a model mends a file", async () => {
    const user = await project("module", pack.archive, ["zod"]);
    for (const name of ["passing_files", "model_loop"]) {
      const text = await readFile(new URL(`../examples/${name}.ts`, import.meta.url), "utf8");
      await user.write(`src/${name}.ts`, text);
    }
    await user.check({ module: "node16", lib: ["ES2022"] });
    const { stdout } = await user.run("out/passing_files.js", env());
    assert.match(stdout, /^monday: 120\ntuesday: 80\nwednesday: 130\nall together: 330\n/);
    assert.match(stdout, /\npath not found: .*inbox.*\n$/);
    const loop = await user.run("out/model_loop.js", env());
    assert.match(loop.stdout, /^mended .*greeting\.txt\nhello world\n/);
    await user.remove();
  });

  it("are injected by Nest, decorated as workflow frameworks do", async () => {
    const user = await project("commonjs", pack.archive, [
      ...["zod", "@nestjs/common", "@nestjs/core", "reflect-metadata", "rxjs"],
    ]);
    const text = await readFile(new URL("./frameworks/nest.ts", import.meta.url), "utf8");
    await user.write("src/nest.ts", text);
    const decorators = { experimentalDecorators: true, emitDecoratorMetadata: true };
    await user.check({ module: "node16", lib: ["ES2022", "DOM"], ...decorators });
    const { stdout } = await user.run("out/nest.js", env());
    assert.deepEqual(JSON.parse(stdout), {
      description: "Write a whole file.",
      required: ["path", "content"],
      results: [true, true, false],
      content: "from one step to the next",
      kind: "outside_sandbox",
    });
    await user.remove();
  });

  it("are tools of the AI SDK as they are", async () => {
    const user = await project("module", pack.archive, ["zod", "ai"]);
    const text = await readFile(new URL("./frameworks/ai_sdk.ts", import.meta.url), "utf8");
    await user.write("src/ai_sdk.ts", text);
    await user.check({ module: "node16", lib: ["ES2022", "DOM"], skipLibCheck: true });
    const { stdout } = await user.run("out/ai_sdk.js", env());
    assert.deepEqual(JSON.parse(stdout), {
      text: "done",
      results: [false, true],
      content: "written by a model",
      isAborted: true,
    });
    await user.remove();
  });

  it("let a program end that made calls that hold it", async () => {
    const user = await project("module", pack.archive, ["zod"]);
    await user.write(
      "main.js",
      `import { createTools } from "sandkeep/tools";
       const { SANDKEEP_URL: baseUrl, SANDKEEP_TOKEN: token } = process.env;
       const tools = createTools({ baseUrl, token });
       console.log(tools.tree.executeSync({}).success);`,
    );
    const begun = Date.now();
    assert.equal((await user.run("main.js", env())).stdout, "true\n");
    assert.ok(Date.now() - begun < 5_000, "at once");
    await user.remove();
  });
});
