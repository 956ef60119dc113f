import { all, bytes, collected, equal, fails, numbers } from "../harness/expect.js";

export default function ({ it, fresh }) {
  for (const format of ["tar", "tar.gz", "tar.zst", "zip"]) {
    it(`a tree goes out and in as ${format}`, async () => {
      const { files } = await fresh();
      await files.write("tree/a.txt", "hello");
      await files.write("tree/deep/b.bin", numbers(300_000));
      const archive = await collected(await files.pack("tree", { format }));
      const { entries, paths, truncated } = await files.unpack("copy", archive, { format });
      equal([entries, paths.length, truncated], [3, 3, false]);
      equal(await files.readText("copy/a.txt"), "hello");
      equal(await files.read("copy/deep/b.bin"), numbers(300_000));
    });
  }

  it("an archive is streamed from one sandbox to another", async () => {
    const [from, to] = [await fresh(), await fresh()];
    await from.files.write("a", numbers(3_000_000));
    const seen = [];
    const onProgress = ({ bytes }) => seen.push(bytes);
    await to.files.unpack("", await from.files.pack(), { onProgress });
    equal(await to.files.read("a"), numbers(3_000_000));
    equal(seen.at(-1) > 3_000_000, true);
  });

  it("an archive that is broken or too large leaves nothing behind", async () => {
    const { files } = await fresh();
    await fails(files.unpack("x", bytes("no archive at all"), { format: "tar" }), {
      kind: "bad_archive",
    });
    await files.write("a", numbers(10_000));
    const archive = await collected(await files.pack("a"));
    await fails(files.unpack("x", archive, { maxBytes: 100 }), { kind: "limit_exceeded" });
    equal(
      (await all(files.list())).map((entry) => entry.name),
      ["a"],
    );
  });
}
