// Content goes in and comes out as it is, whatever it is and whatever it is called.

import { done, refused } from "../harness/done.js";
import { bytes, equal, numbers, ok } from "../harness/expect.js";

export default function ({ it, fresh, toolkit }) {
  const all = async (settings) => toolkit.createTools(await fresh(), settings);
  const again = async (tools, args) => {
    await done(tools.writeFile.execute({ path: "a", ...args }));
    return done(tools.readFile.execute({ path: "a", encoding: args.encoding }));
  };

  it("white space at either end stays", async () => {
    equal((await again(await all(), { content: "  hi\n\n" })).content, "  hi\n\n");
    equal((await again(await all(), { content: "\u{feff}mark" })).content, "\u{feff}mark");
    equal((await again(await all(), { content: "" })).content, "");
  });

  it("two and a half megabytes of letters of many bytes come back as they are", async () => {
    const content = "añ漢🦀".repeat(250_000);
    const read = await again(await all(), { content });
    ok(read.content === content, "the same text");
    equal(read.size, 2_500_000);
  });

  it("ten megabytes are no matter", async () => {
    const tools = await all();
    const content = numbers(10 * 1024 * 1024);
    await done(tools.writeFile.execute({ path: "a", content }));
    equal((await done(tools.readFile.execute({ path: "a" }, { as: "bytes" }))).content, content);
  });

  it("bytes come back as bytes", async () => {
    const [tools, content] = [await all(), numbers(256 * 7 + 1)];
    const sent = [content, content.slice().buffer];
    for (const one of sent) {
      await done(tools.writeFile.execute({ path: "a", content: one }));
      const read = await done(tools.readFile.execute({ path: "a" }, { as: "bytes" }));
      ok(read.content instanceof Uint8Array, "bytes");
      equal([read.content, read.encoding], [content, "bytes"]);
    }
    await done(tools.appendFile.execute({ path: "a", content: new Uint8Array([0, 255]) }));
    const { content: tail } = await done(
      tools.readFile.execute({ path: "a", offset: content.length }, { as: "bytes" }),
    );
    equal(tail, new Uint8Array([0, 255]));
    const steps = [{ operation: "write", path: "b", content: new Uint8Array([254]) }];
    await done(tools.batch.execute({ steps }));
    const b = await done(tools.readFile.execute({ path: "b" }, { as: "bytes" }));
    equal(b.content, new Uint8Array([254]));
    equal((await done(tools.readFile.execute({ path: "b" }, { as: "bytes" }))).size, 1);
  });

  it("an encoding that none can be is refused, also where bytes are meant", async () => {
    const tools = await all();
    for (const encoding of [5, {}, [], Object.create(null), true]) {
      const read = tools.readFile.execute({ path: "a", encoding }, { as: "bytes" });
      await refused(read, "invalid_argument");
      const step = { operation: "write", path: "a", content: bytes("x"), encoding };
      await refused(tools.batch.execute({ steps: [step] }), "invalid_argument");
    }
  });

  it("content that is no base64 where bytes are wanted is not understood", async () => {
    const answer = (content, encoding) => {
      const range = { start: 0, end: content.length, total: content.length };
      const data = { path: "/a", content, encoding, size: content.length, range, version: "1" };
      const metadata = { tool: "read_file", durationMs: 1 };
      return { success: true, data, error: null, metadata };
    };
    const told = async (content, encoding) => {
      const fetch = async () => Response.json(answer(content, encoding));
      const tools = toolkit.createTools({ baseUrl: "http://127.0.0.1:9", fetch });
      return tools.readFile.execute({ path: "a" }, { as: "bytes" });
    };
    equal((await done(told("AP8=", "base64"))).content, new Uint8Array([0, 255]));
    for (const content of ["AP8", "%%%%", "AP8=\n", "AP-_", "A", "AP8=AP8="]) {
      await refused(told(content, "base64"), "not_understood");
    }
    await refused(told("abcd", "utf-8"), "not_understood");
  });

  it("bytes and an encoding contradict each other", async () => {
    const tools = await all();
    const content = bytes("x");
    const both = { path: "a", content, encoding: "utf-8" };
    await refused(tools.writeFile.execute(both), "invalid_argument");
    await done(tools.writeFile.execute({ path: "a", content, encoding: "base64" }));
    const wish = { path: "a", encoding: "utf-8" };
    await refused(tools.readFile.execute(wish, { as: "bytes" }), "invalid_argument");
    await refused(tools.readFile.execute({ path: "a" }, { as: "buffer" }), "invalid_argument");
    equal((await done(tools.readFile.execute({ path: "a" }, { as: "text" }))).content, "x");
  });

  it("base64 is one line, and what is no text is not made text", async () => {
    const [tools, content] = [await all(), numbers(200)];
    await done(tools.writeFile.execute({ path: "a", content }));
    const read = await done(tools.readFile.execute({ path: "a", encoding: "base64" }));
    equal([read.content.includes("\n"), read.content.length], [false, 268]);
    await refused(tools.readFile.execute({ path: "a" }), "invalid_argument");
    equal((await done(tools.readFile.execute({ path: "a", encoding: "auto" }))).encoding, "base64");
  });

  it("base64 for addresses is understood, and what is none changes nothing", async () => {
    const tools = await all();
    const safe = { path: "a", content: "-_-_", encoding: "base64" };
    equal((await done(tools.writeFile.execute(safe))).bytesWritten, 3);
    const { content } = await done(tools.readFile.execute({ path: "a" }, { as: "bytes" }));
    equal(content, new Uint8Array([0xfb, 0xff, 0xbf]));
    for (const wrong of ["-+", "!!!!", "abcde", "a"]) {
      const args = { path: "a", content: wrong, encoding: "base64" };
      await refused(tools.writeFile.execute(args), "invalid_argument");
    }
    equal((await done(tools.readFile.execute({ path: "a" }, { as: "bytes" }))).size, 3);
  });

  it("text in other encodings comes back as text", async () => {
    for (const encoding of ["shift_jis", "utf-16le", "windows-1252", "euc-kr"]) {
      const content = { shift_jis: "日本語", "euc-kr": "한국어" }[encoding] ?? "café";
      const read = await again(await all(), { content, encoding });
      equal([read.content, read.encoding.toLowerCase()], [content, encoding]);
    }
    const tools = await all();
    const cannot = { path: "a", content: "日本", encoding: "windows-1252" };
    await refused(tools.writeFile.execute(cannot), "invalid_argument");
    equal((await done(tools.exists.execute({ path: "a" }))).exists, false);
  });

  it("names are data", async () => {
    const tools = await all();
    const names = [
      ...["-delete", "--help", "-rf", "a\nb", "it's", 'say "hi"', "$(reboot)", "`id`", "a;b", "*"],
      ...["back\\slash", " lead and trail ", "é", "e\u0301", "🦀", "%2e%2e", "a|b", "new\nline\n"],
    ];
    for (const name of names) {
      await done(tools.writeFile.execute({ path: name, content: name }));
      equal((await done(tools.readFile.execute({ path: name }))).content, name);
      equal((await done(tools.fileInfo.execute({ path: name }))).name, name);
    }
    const { entries } = await done(tools.listDirectory.execute({}));
    equal(entries.map(({ name }) => name).sort(), [...names].sort());
    for (const name of names) await done(tools.delete.execute({ path: name }));
    equal((await done(tools.listDirectory.execute({ recursive: true }))).entries, []);
    await refused(tools.listDirectory.execute({ path: "-delete", recursive: true }), "not_found");
  });

  it("what is longer than one result comes in parts that fit together", async () => {
    const tools = await all({ maxResultBytes: 1000 });
    const content = numbers(3333);
    await done(tools.writeFile.execute({ path: "a", content }));
    const parts = [];
    for (let next = {}; next; ) {
      const part = await tools.readFile.execute({ path: "a", ...next }, { as: "bytes" });
      parts.push(...(await done(part)).content);
      next = part.metadata.truncated?.next;
    }
    equal(new Uint8Array(parts), content);
  });
}
