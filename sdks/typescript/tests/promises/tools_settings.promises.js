// What a program lets its tools do.

import { done, refused } from "../harness/done.js";
import { equal, ok } from "../harness/expect.js";

export default function ({ it, fresh, toolkit, line, connect }) {
  const { createTools } = toolkit;

  it("tools stay in the paths that they are allowed, whatever leads out of them", async () => {
    const sandbox = await fresh();
    await sandbox.files.write("secret/key", "K");
    await sandbox.files.link("work/link", "../secret/key");
    const home = (await done(createTools(sandbox).fileInfo.execute({ path: "." }))).path;
    const allowedPaths = [`${home.replace(/\/$/, "")}/work`];
    const tools = createTools(sandbox, { allowedPaths });
    await done(tools.writeFile.execute({ path: "work/a", content: "A" }));
    await refused(tools.readFile.execute({ path: "secret/key" }), "outside_sandbox");
    await refused(tools.readFile.execute({ path: "work/../secret/key" }), "outside_sandbox");
    await refused(tools.readFile.execute({ path: "work/link" }), "outside_sandbox");
    await refused(tools.writeFile.execute({ path: "b", content: "B" }), "outside_sandbox");
    const blocked = createTools(sandbox, { blockedPaths: ["secret"] });
    await refused(blocked.readFile.execute({ path: "secret/key" }), "outside_sandbox");
    await done(blocked.readFile.execute({ path: "work/a" }));
  });

  it("tools that only look change nothing", async () => {
    const sandbox = await fresh();
    await sandbox.files.write("a", "A");
    const tools = createTools(sandbox, { readOnly: true });
    await done(tools.readFile.execute({ path: "a" }));
    await refused(tools.delete.execute({ path: "a" }), "forbidden");
    equal(await sandbox.files.readText("a"), "A");
  });

  it("the encoding, the depth and the number of entries are those of the settings", async () => {
    const sandbox = await fresh();
    const settings = { defaultEncoding: "utf-16le", maxEntries: 2, maxDepth: 2 };
    const tools = createTools(sandbox, settings);
    await done(tools.writeFile.execute({ path: "a/b/c/d", content: "ab" }));
    equal(await sandbox.files.read("a/b/c/d"), new Uint8Array([97, 0, 98, 0]));
    equal((await done(tools.readFile.execute({ path: "a/b/c/d" }))).content, "ab");
    const deep = await tools.listDirectory.execute({ recursive: true });
    equal(deep.metadata.truncated.reason, "depth");
    for (const name of ["x", "y", "z"]) {
      await done(tools.writeFile.execute({ path: `many/${name}`, content: "" }));
    }
    equal((await done(tools.listDirectory.execute({ path: "many" }))).entries.length, 2);
  });

  it("nobody gets more than the server allows", async () => {
    const tools = createTools(await fresh(), { timeoutMs: 10 ** 9 });
    const told = await refused(tools.listDirectory.execute({}), "invalid_argument");
    ok(told.error.includes("timeoutMs"), told.error);
  });

  it("a server that does not answer in time is given up", async () => {
    const silent = connect({ baseUrl: line("silence"), timeout: 0 });
    const tools = createTools(silent, { timeoutMs: 100 });
    const begun = Date.now();
    const looked = await refused(tools.listDirectory.execute({}), "timeout");
    ok(looked.retryable && Date.now() - begun < 5_000, "an end in time");
    const changed = await refused(tools.writeFile.execute({ path: "a", content: "" }), "timeout");
    ok(changed.hint.includes("whether it happened"), changed.hint);
  });

  it("a signal ends a call", async () => {
    const tools = createTools(connect({ baseUrl: line("silence") }));
    for (const name of ["signal", "abortSignal"]) {
      const controller = new AbortController();
      const call = tools.listDirectory.execute({}, { [name]: controller.signal });
      setTimeout(() => controller.abort(), 30);
      await refused(call, "aborted");
      const late = { [name]: AbortSignal.abort() };
      await refused(tools.writeFile.execute({ path: "a", content: "" }, late), "aborted");
    }
  });

  it("whatever else a framework hands over is left alone", async () => {
    const tools = createTools(await fresh());
    const context = { workflow: 5, signal: "red", messages: [], toolCallId: "1" };
    await done(tools.listDirectory.execute({}, context));
    await done(tools.listDirectory.execute({}, null));
  });
}
