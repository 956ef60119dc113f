// Calls that hold the thread until they are done, where that can be.

import { done, refused } from "../harness/done.js";
import { bytes, equal, numbers, ok } from "../harness/expect.js";

export default function ({ it, fresh, line, toolkit, runtime, baseUrl, token }) {
  const { createTools } = toolkit;
  const all = async (settings) =>
    createTools({ baseUrl, token, sandbox: (await fresh()).id }, settings);

  if (runtime !== "node") {
    it("where a thread cannot be held, that is told", async () => {
      const tools = await all();
      const told = await refused(tools.tree.executeSync({}), "unsupported");
      ok(told.hint.includes("execute"), told.hint);
      await refused(tools.tree.executeSync({ path: 5 }), "invalid_argument");
    });
    return;
  }

  it("reads and writes are done when they return", async () => {
    const tools = await all();
    const written = tools.writeFile.executeSync({ path: "a", content: "  hi\n\n" });
    equal([written.success, written.data.bytesWritten], [true, 6]);
    equal(tools.readFile.executeSync({ path: "a" }).data.content, "  hi\n\n");
    const content = numbers(10 * 1024 * 1024);
    await done(tools.writeFile.executeSync({ path: "b", content }));
    equal(
      (await done(tools.readFile.executeSync({ path: "b" }, { as: "bytes" }))).content,
      content,
    );
    equal((await done(tools.readFile.execute({ path: "b" }, { as: "bytes" }))).content, content);
    const { executeSync } = tools.exists;
    equal(executeSync({ path: "b" }).data.exists, true);
  });

  it("what goes wrong is a result", async () => {
    const tools = await all({ maxFileSize: 5 });
    await refused(tools.readFile.executeSync({ path: "none" }), "not_found");
    await refused(tools.readFile.executeSync({ path: "a", more: 1 }), "invalid_argument");
    await refused(tools.writeFile.executeSync({ path: "a", content: "longer" }), "file_too_large");
    await refused(
      tools.writeFile.executeSync({ path: "a", content: bytes("longer") }),
      "file_too_large",
    );
    await refused(tools.tree.executeSync({}, { signal: AbortSignal.abort() }), "aborted");
    const wrong = createTools({ baseUrl, token: "wrong" });
    await refused(wrong.tree.executeSync({}), "token_invalid");
    const nowhere = createTools({ baseUrl: "http://127.0.0.1:9", retry: { retries: 0 } });
    const told = await refused(nowhere.tree.executeSync({}), "connection");
    ok(told.error.includes("ECONNREFUSED") || told.error.includes("bad port"), told.error);
  });

  it("a function that takes its time is told as such", async () => {
    const slow = createTools({ baseUrl, token: async () => token });
    await refused(slow.tree.executeSync({}), "unsupported");
    const other = createTools({ baseUrl, token, fetch: globalThis.fetch });
    await refused(other.tree.executeSync({}), "unsupported");
    const quick = createTools({ baseUrl, token: () => token });
    await done(quick.tree.executeSync({}));
  });

  it("it ends in time, also on bad lines", async () => {
    const silent = createTools({ baseUrl: line("silence") }, { timeoutMs: 100 });
    const begun = Date.now();
    await refused(silent.tree.executeSync({}), "timeout");
    const short = createTools({ baseUrl: line("silence"), timeout: 100 });
    await refused(short.tree.executeSync({}), "timeout");
    ok(Date.now() - begun < 8_000, "an end in time");
    const retry = { firstPause: 5 };
    const sandbox = await fresh();
    const lost = createTools({ baseUrl: line("lose", 1), token, sandbox: sandbox.id, retry });
    await done(lost.writeFile.executeSync({ path: "a", content: "A" }));
    const once = createTools({ baseUrl: line("lose", 1), token, sandbox: sandbox.id, retry });
    await refused(once.appendFile.executeSync({ path: "a", content: "A" }), "connection");
    equal(await sandbox.files.readText("a"), "AA");
  });
}
