// What is wrong with a call is told before anything is sent.

import { done, refused } from "../harness/done.js";
import { equal, fails, ok } from "../harness/expect.js";

export default function ({ it, fresh, connect, toolkit }) {
  /** Tools whose requests are counted. */
  async function counted(settings) {
    const sandbox = await fresh();
    const sent = [];
    const fetch = (url, init) => {
      sent.push(url);
      return globalThis.fetch(url, init);
    };
    return { tools: toolkit.createTools(connect({ fetch }).sandbox(sandbox.id), settings), sent };
  }

  it("unknown arguments, and such of another type, are refused by name", async () => {
    const { tools, sent } = await counted();
    const unknown = await refused(
      tools.readFile.execute({ path: "a", recursive: true }),
      "invalid_argument",
    );
    ok(unknown.error.includes("recursive") && unknown.hint.includes("read_file"), unknown.error);
    const typed = await refused(tools.readFile.execute({ path: 5 }), "invalid_argument");
    ok(typed.error.includes("`path`"), typed.error);
    const steps = [{ operation: "write", path: "a", contents: "x" }];
    const deep = await refused(tools.batch.execute({ steps }), "invalid_argument");
    ok(deep.error.includes("`steps[0]`"), deep.error);
    for (const args of [undefined, null, {}, [], "a", 5]) {
      await refused(tools.readFile.execute(args), "invalid_argument");
    }
    const edits = [];
    await refused(tools.editFile.execute({ path: "a", edits }), "invalid_argument");
    await refused(tools.readFile.execute({ path: "a", startLine: 0 }), "invalid_argument");
    await refused(tools.readFile.execute({ path: "a", offset: -1 }), "invalid_argument");
    await refused(tools.readFile.execute({ path: "a", offset: 1.5 }), "invalid_argument");
    await refused(tools.listDirectory.execute({ type: "folder" }), "invalid_argument");
    equal(sent, []);
  });

  it("optional arguments may be null, as models write them", async () => {
    const { tools } = await counted();
    const nothing = { encoding: null, createParents: null, force: null, ifVersion: null };
    await done(tools.writeFile.execute({ path: "a", content: "x", ...nothing }));
    await done(tools.listDirectory.execute({ path: null, pattern: null, type: null }));
  });

  it("paths have a form", async () => {
    const { tools, sent } = await counted();
    const longest = `${"a".repeat(255)}/`.repeat(16);
    const wrong = ["", "a\0b", "\ud800", `${longest}b`, "漢".repeat(1366)];
    for (const path of wrong) {
      for (const call of [
        () => tools.readFile.execute({ path }),
        () => tools.move.execute({ from: path, to: "b" }),
        () => tools.copy.execute({ from: "b", to: path }),
        () => tools.restore.execute({ id: "x", path }),
        () => tools.batch.execute({ steps: [{ operation: "delete", path }] }),
      ]) {
        const told = await refused(call(), "invalid_argument");
        ok(/path|from|to/.test(told.error), told.error);
      }
    }
    equal(sent, []);
    // Exactly as long as allowed: it is the server that says what is there.
    await refused(tools.readFile.execute({ path: longest.slice(0, 4096) }), "not_found");
    equal(sent.length, 1);
  });

  it("encodings are those of the standard, base64 and auto", async () => {
    const { tools, sent } = await counted();
    for (const encoding of ["klingon", "", "utf-7", "hz-gb-2312", "binary", "utf 8"]) {
      await refused(tools.readFile.execute({ path: "a", encoding }), "invalid_argument");
      await refused(
        tools.writeFile.execute({ path: "a", content: "", encoding }),
        "invalid_argument",
      );
    }
    const edits = [{ oldText: "a", newText: "b" }];
    for (const encoding of ["base64", "auto"]) {
      await refused(tools.editFile.execute({ path: "a", edits, encoding }), "invalid_argument");
    }
    equal(sent, []);
    await done(tools.writeFile.execute({ path: "a", content: "x", encoding: " UTF-8 " }));
  });

  it("every encoding that this package knows is known to the server", async () => {
    const { tools } = await counted();
    const labels = (
      "866 big5 euc-jp euc-kr gb18030 gbk ibm866 iso-2022-jp iso-8859-10 iso-8859-13 iso-8859-14 " +
      "iso-8859-15 iso-8859-16 iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-6 iso-8859-7 " +
      "iso-8859-8 iso-8859-8-i koi8-r koi8-u macintosh shift_jis utf-16be utf-16le utf-8 " +
      "windows-1250 windows-1251 windows-1252 windows-1253 windows-1254 windows-1255 windows-1256 " +
      "windows-1257 windows-1258 windows-874 x-mac-cyrillic x-user-defined latin1 ascii utf8 sjis"
    ).split(" ");
    const steps = labels.map((encoding) => {
      return { operation: "write", path: encoding, content: "plain", encoding };
    });
    equal((await done(tools.batch.execute({ steps }))).steps.length, labels.length);
  });

  it("half of a character is no content", async () => {
    const { tools, sent } = await counted();
    const half = "a\ud83dz";
    await refused(tools.writeFile.execute({ path: "a", content: half }), "invalid_argument");
    await refused(tools.appendFile.execute({ path: "a", content: half }), "invalid_argument");
    const edits = [{ oldText: "a", newText: half }];
    await refused(tools.editFile.execute({ path: "a", edits }), "invalid_argument");
    equal(sent, []);
  });

  it("what is too long is not sent", async () => {
    const { tools, sent } = await counted({ maxFileSize: 6 });
    const long = "ääää";
    for (const call of [
      tools.writeFile.execute({ path: "a", content: long }),
      tools.appendFile.execute({ path: "a", content: long }),
      tools.writeFile.execute({ path: "a", content: new Uint8Array(7) }),
      tools.writeFile.execute({ path: "a", content: "AAAA AAAA\nAA==", encoding: "base64" }),
      tools.batch.execute({ steps: [{ operation: "write", path: "a", content: long }] }),
    ]) {
      const told = await refused(call, "file_too_large");
      ok(told.error.includes(" 6 are allowed"), told.error);
    }
    equal(sent, []);
    await done(tools.writeFile.execute({ path: "a", content: "äää" }));
    await done(tools.writeFile.execute({ path: "a", content: "AAAA AAAA", encoding: "base64" }));
    // How long text is in other encodings, and with what is there already, the server knows.
    const wide = { path: "a", content: "four", encoding: "utf-16le" };
    await refused(tools.writeFile.execute(wide), "file_too_large");
    await refused(tools.appendFile.execute({ path: "a", content: "x" }), "file_too_large");
  });

  it("settings that make no sense are a mistake of the program", async () => {
    for (const settings of [
      { timeoutMs: 0 },
      { timeoutMs: "5" },
      { allowedPaths: [] },
      { allowedPaths: [""] },
      { defaultEncoding: "klingon" },
      { maxFilesize: 5 },
    ]) {
      await fails(() => counted(settings), { name: "SandkeepError", kind: "invalid_argument" });
    }
  });
}
