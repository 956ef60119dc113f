import { all, bytes, collected, equal, fails, numbers, ok, text } from "../harness/expect.js";

export default function ({ it, fresh, connect, keep, unique }) {
  it("a file is read as bytes, text, JSON or a stream", async () => {
    const { files } = await fresh();
    const content = bytes("\uFEFFgrüße\0\n");
    await files.write("a.txt", content);
    equal(await files.read("a.txt"), content);
    equal(await files.readText("a.txt"), "\uFEFFgrüße\0\n");
    equal(await collected(await files.readStream("a.txt")), content);
    await files.write("a.json", '{"snake_case":[1,2]}');
    equal(await files.readJson("a.json"), { snake_case: [1, 2] });
    await fails(files.readJson("a.txt"), { kind: "invalid_argument", path: "a.txt" });
  });

  it("an empty file is empty", async () => {
    const { files } = await fresh();
    await files.write("empty", "");
    equal(await files.read("empty"), new Uint8Array());
    equal((await files.get("empty")).size, 0);
  });

  it("a part is read as slice has it", async () => {
    const { files } = await fresh();
    await files.write("a", "0123456789");
    equal(await files.readText("a", { range: { start: 2, end: 5 } }), "234");
    equal(await files.readText("a", { range: { start: 7 } }), "789");
    equal(await files.readText("a", { range: { last: 3 } }), "789");
    const part = await files.get("a", { range: { start: 8, end: 100 } });
    equal([part.range, part.size, await part.text()], [{ start: 8, end: 10 }, 10, "89"]);
    await fails(files.read("a", { range: { start: 10 } }), {
      kind: "range_not_satisfiable",
      status: 416,
    });
    await fails(files.read("a", { range: { start: 3, end: 3 } }), { kind: "invalid_argument" });
  });

  it("whoever has the version already gets no bytes", async () => {
    const { files } = await fresh();
    const { version } = await files.write("a", "one");
    const same = await files.get("a", { ifNoneMatch: version });
    equal([same.notModified, same.version], [true, version]);
    await fails(same.text(), { kind: "not_modified" });
    await files.write("a", "two");
    const other = await files.get("a", { ifNoneMatch: [version, "0123"] });
    equal([other.notModified, await other.text()], [false, "two"]);
  });

  it("a read can insist on a version", async () => {
    const { files } = await fresh();
    const { version } = await files.write("a", "one");
    equal(await files.readText("a", { ifMatch: version }), "one");
    await files.write("a", "two");
    const error = await fails(files.read("a", { ifMatch: version }), { status: 412 });
    equal([error.kind, error.operation], ["precondition_failed", "files.get"]);
  });

  it("the head of a file tells its version, length and time", async () => {
    const { files } = await fresh();
    const { version } = await files.write("a", "12345");
    const head = await files.head("a");
    equal([head.version, head.size], [version, 5]);
    ok(Math.abs(head.modified.getTime() - Date.now()) < 60_000, "a time that is now");
  });

  it("a head has no bytes, and is refused as the file would be", async () => {
    const { files } = await fresh();
    await files.write("a", "12345");
    const head = await files.head("a");
    await fails(() => head.text(), { name: "SandkeepError", kind: "invalid_argument" });
    await files.mkdir("dir");
    const nowhere = keep.sandbox(unique("none")).files;
    for (const [place, path] of [
      [files, "dir"],
      [files, "nothing"],
      [nowhere, "a"],
    ]) {
      const { kind, status } = await fails(place.get(path), { name: "SandkeepError" });
      await fails(place.head(path), { kind, status, operation: "files.head" });
    }
  });

  it("bytes are taken once", async () => {
    const { files } = await fresh();
    await files.write("a", "12345");
    const file = await files.get("a");
    equal(await file.text(), "12345");
    await fails(() => file.text(), { name: "SandkeepError", kind: "invalid_argument" });
    const other = await files.get("a");
    other.cancel();
    await fails(() => other.bytes(), { name: "SandkeepError", kind: "invalid_argument" });
  });

  it("a whole file in place of a part is not taken for the part", async () => {
    const fetch = async () => new Response("0123456789", { status: 200 });
    const { files } = connect({ fetch }).sandbox("any");
    const range = { start: 2, end: 5 };
    await fails(files.readText("a", { range }), { kind: "not_understood" });
  });

  it("a large file comes as it is taken, and tells how far it is", async () => {
    const { files } = await fresh();
    const content = numbers(5_000_001);
    await files.write("large", content);
    const seen = [];
    const got = await files.read("large", { onProgress: (progress) => seen.push(progress) });
    equal(got, content);
    ok(seen.length > 1, "several steps");
    equal(seen.at(-1), { bytes: 5_000_001, total: 5_000_001 });
    equal(
      seen.every((step, at) => at === 0 || step.bytes > seen[at - 1].bytes),
      true,
    );
  });

  it("a stream can be left before its end", async () => {
    const { files } = await fresh();
    await files.write("large", numbers(5_000_000));
    const reader = (await files.readStream("large")).getReader();
    const { value } = await reader.read();
    ok(value.byteLength > 0);
    await reader.cancel();
    (await files.get("large")).cancel();
    equal(text(await files.read("large", { range: { start: 0, end: 0 + 4 } })).length > 0, true);
  });

  it("a read ends when its signal is aborted", async () => {
    const { files } = await fresh();
    await files.write("large", numbers(30_000_000));
    const controller = new AbortController();
    const onProgress = () => controller.abort(new Error("enough"));
    const reading = files.read("large", { signal: controller.signal, onProgress });
    const error = await fails(reading, { kind: "aborted", operation: "files.get" });
    equal(error.cause.message, "enough");
    const before = files.read("large", { signal: AbortSignal.abort() });
    await fails(before, { kind: "aborted" });
  });

  it("what a snapshot has is read as it was", async () => {
    const { files, snapshots } = await fresh();
    await files.write("src/a.txt", "before");
    await files.link("link", "src/a.txt");
    await snapshots.create({ id: "one" });
    await files.delete("src");
    const before = files.at("one");
    equal(await before.readText("src/a.txt"), "before");
    equal((await before.stat("src/a.txt")).size, 6);
    equal(await before.exists("src"), true);
    equal(await files.exists("src"), false);
    equal(await before.readLink("link"), "src/a.txt");
    const listed = await all(before.list("", { recursive: true }));
    equal(
      listed.map((entry) => entry.path),
      ["link", "src", "src/a.txt"],
    );
    equal((await before.search({ pattern: "before" }).all()).found.length, 1);
    equal(before.write, undefined);
  });
}
