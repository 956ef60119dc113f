import { equal, fails } from "../harness/expect.js";

export default function ({ it, fresh }) {
  it("steps are taken together", async () => {
    const { files } = await fresh();
    await files.write("old/x", "x");
    const { version } = await files.write("b", "B");
    const batch = files
      .batch()
      .write("a", "A", { ifNoneMatch: "*" })
      .write("bytes", new Uint8Array([0, 255, 128]))
      .write("a", "+", { mode: "append" })
      .mkdir("dir")
      .link("link", "a")
      .copy("a", "dir/copy")
      .move("b", "dir/b")
      .chmod("dir/b", { mode: "600" })
      .check("dir/b", { ifMatch: "*" })
      .delete("old");
    equal(batch.length, 10);
    const outcome = await batch.send();
    equal(outcome.length, 10);
    equal([outcome[3].kind, outcome[9]], ["directory", null]);
    equal(await files.readText("dir/copy"), "A+");
    equal(await files.read("bytes"), new Uint8Array([0, 255, 128]));
    equal([await files.exists("old"), await files.readText("dir/b")], [false, "B"]);
    equal((await files.stat("dir/b")).mode, "600");
    await fails(files.batch().check("a", { ifMatch: version }).send(), { status: 412 });
  });

  it("nothing happens when one step fails", async () => {
    const { files } = await fresh();
    const batch = files.batch().write("a", "A").delete("not there");
    const error = await fails(batch.send(), { kind: "not_found", operation: "files.batch" });
    equal([error.path, await files.exists("a")], ["not there", false]);
  });
}
