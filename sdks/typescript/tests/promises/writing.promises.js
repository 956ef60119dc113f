import { bytes, equal, fails, numbers, ok } from "../harness/expect.js";

export default function ({ it, fresh }) {
  it("content may be text, bytes, a Blob, a stream, an iterable or a function", async () => {
    const { files } = await fresh();
    const pieces = async function* () {
      yield "he";
      yield bytes("ll");
      yield "o";
    };
    const stream = () => new Blob(["hello"]).stream();
    const kinds = {
      text: "hello",
      bytes: bytes("hello"),
      view: new DataView(bytes("..hello..").buffer, 2, 5),
      buffer: bytes("hello").buffer,
      blob: new Blob(["hel", "lo"]),
      stream: stream(),
      iterable: pieces(),
      function: pieces,
      promise: async () => stream(),
    };
    for (const [name, content] of Object.entries(kinds)) {
      equal((await files.write(name, content)).size, 5);
      equal([name, await files.readText(name)], [name, "hello"]);
    }
  });

  it("a write tells the version, the length and whether the file is new", async () => {
    const { files } = await fresh();
    const first = await files.write("deep/in/a", "one");
    equal([first.size, first.created], [3, true]);
    const second = await files.write("deep/in/a", "three");
    equal([second.size, second.created], [5, false]);
    ok(first.version !== second.version, "another version");
    equal((await files.stat("deep/in/a")).version, second.version);
  });

  it("a write can depend on the version that is there", async () => {
    const { files } = await fresh();
    const { version } = await files.write("a", "one", { ifNoneMatch: "*" });
    await fails(files.write("a", "two", { ifNoneMatch: "*" }), { kind: "precondition_failed" });
    await fails(files.write("a", "two", { mustBeNew: true }), { kind: "already_exists" });
    await files.write("a", "two", { ifMatch: version });
    await fails(files.write("a", "three", { ifMatch: version }), { status: 412 });
    await fails(files.write("b/c", "x", { parents: false }), { kind: "not_found" });
    equal(await files.readText("a"), "two");
  });

  it("a large stream goes up piece by piece, and tells how far it is", async () => {
    const { files } = await fresh();
    const content = numbers(8_000_003);
    const pieces = async function* () {
      for (let at = 0; at < content.length; at += 100_000) yield content.subarray(at, at + 100_000);
    };
    const seen = [];
    await files.write("large", pieces(), { onProgress: ({ bytes }) => seen.push(bytes) });
    equal(seen.at(-1), 8_000_003);
    equal(await files.read("large"), content);
  });

  it("large bytes and Blobs tell how far they are, of how much", async () => {
    const { files } = await fresh();
    const content = numbers(6_000_000);
    for (const body of [content, new Blob([content])]) {
      const seen = [];
      await files.write("large", body, { onProgress: (progress) => seen.push(progress) });
      equal(seen.at(-1), { bytes: 6_000_000, total: 6_000_000 });
      ok(seen.every((step, at) => at === 0 || step.bytes >= seen[at - 1].bytes));
      equal(await files.read("large"), content);
    }
  });

  it("an upload that is aborted leaves what was there", async () => {
    const { files } = await fresh();
    await files.write("a", "before");
    const controller = new AbortController();
    const endless = async function* () {
      for (let count = 0; count < 200; count += 1) {
        if (count === 3) controller.abort();
        yield numbers(100_000);
      }
    };
    const writing = files.write("a", endless(), { signal: controller.signal });
    await fails(writing, { kind: "aborted", operation: "files.write" });
    equal(await files.readText("a"), "before");
  });

  it("content that fails in the middle is told as it failed, and leaves what was there", async () => {
    const { files } = await fresh();
    await files.write("a", "before");
    const broken = async function* () {
      yield "half";
      throw new Error("the source is gone");
    };
    const error = await fails(files.write("a", broken()), { kind: "broken_body" });
    equal(error.cause.message, "the source is gone");
    await fails(files.write("a", [1, 2]), { name: "SandkeepError" });
    equal(await files.readText("a"), "before");
  });

  it("a file grows at its end", async () => {
    const { files } = await fresh();
    equal((await files.append("log", "one\n")).created, true);
    const { size, version } = await files.append("log", new Blob(["two\n"]).stream());
    equal(size, 8);
    await files.append("log", "three\n", { ifMatch: version });
    await fails(files.append("log", "four\n", { ifMatch: version }), { status: 412 });
    equal(await files.readText("log"), "one\ntwo\nthree\n");
  });

  it("a part of a file is written where it belongs", async () => {
    const { files } = await fresh();
    await files.write("a", "0123456789");
    equal((await files.writeAt("a", 3, "abc")).size, 10);
    equal(await files.readText("a"), "012abc6789");
    await files.writeAt("a", 12, bytes("!"), { total: 13 });
    equal(await files.readText("a"), "012abc6789\0\0!");
    await fails(files.writeAt("a", -1, "x"), { kind: "invalid_argument" });
    await fails(files.writeAt("a", 0, ""), { kind: "invalid_argument" });
  });

  it("texts are replaced exactly, or nothing changes", async () => {
    const { files } = await fresh();
    await files.write("app.py", 'print("hello")\nprint("hello")\n');
    const dry = await files.edit(
      "app.py",
      { old: "hello", new: "bye", all: true },
      { dryRun: true },
    );
    equal([dry.replaced, dry.truncated], [[2], false]);
    ok(dry.diff.includes('+print("bye")'), "a diff");
    await fails(files.edit("app.py", { old: "hello", new: "bye" }), {
      kind: "precondition_failed",
    });
    equal(await files.readText("app.py"), 'print("hello")\nprint("hello")\n');
    const { entry } = await files.edit("app.py", [
      { old: "hello", new: "bye", count: 2 },
      { old: '"bye")\nprint', new: '"bye");print' },
    ]);
    equal(await files.readText("app.py"), 'print("bye");print("bye")\n');
    await files.edit("app.py", { old: ";", new: "\n" }, { ifMatch: entry.version });
    const stale = files.edit("app.py", { old: "bye", new: "x" }, { ifMatch: entry.version });
    await fails(stale, { kind: "precondition_failed" });
  });

  it("a file that is larger than allowed is refused", async () => {
    const { files } = await fresh({ limits: { fileSize: 10 } });
    const error = await fails(files.write("a", numbers(2_000_000)), { kind: "file_too_large" });
    equal([error.status, error.path], [413, "a"]);
    equal(await files.exists("a"), false);
  });
}
