import { equal, fails } from "../harness/expect.js";

const ODD = [
  "with space",
  "per%20cent",
  "100%",
  "question?",
  "hash#tag",
  "plus+and&more=less",
  "back\\slash",
  "quote\"'`",
  "...",
  ".hidden",
  "-delete",
  "new\nline",
  "grüße-你好-🦀",
  "e\u0301",
  "colon:semi;comma,",
  "%2e%2e",
  "~",
  "@",
  "[x]{y}|^",
];

export default function ({ it, fresh, keep }) {
  it("every name is just a name", async () => {
    const { files } = await fresh();
    for (const name of ODD) {
      await files.write(`dir/${name}/${name}`, name);
      equal(await files.readText(`dir/${name}/${name}`), name);
    }
    const listed = await files.list("dir", { pageSize: 4 }).all();
    equal(listed.map((entry) => entry.name).sort(), [...ODD].sort());
    for (const entry of listed) {
      equal((await files.stat(entry.path)).kind, "directory");
      equal(await files.readText(`${entry.path}/${entry.name}`), entry.name);
    }
    await files.move(`dir/${ODD[3]}`, "moved?");
    equal(await files.readText(`moved?/${ODD[3]}`), ODD[3]);
  });

  it("slashes and single dots change nothing", async () => {
    const { files } = await fresh();
    await files.write("/a//./b.txt", "x");
    equal(await files.readText("a/b.txt"), "x");
    equal(
      (await files.list("/a/").all()).map((entry) => entry.path),
      ["a/b.txt"],
    );
    equal(
      (await files.list("/").all()).map((entry) => entry.path),
      ["a"],
    );
    equal((await files.stat(".")).kind, "directory");
    await fails(files.write("a/", "x"), { name: "SandkeepError" });
    await fails(files.stat("a/b.txt/"), { kind: "not_a_directory" });
  });

  it("two dots are refused before they are sent", async () => {
    const { files } = await fresh();
    const ways = ["..", "../x", "a/../b", "a/..", "../../../keys"];
    for (const path of ways) {
      const error = await fails(files.read(path), { kind: "outside_sandbox" });
      equal([error.status, error.path], [undefined, path]);
      await fails(files.write(path, "x"), { kind: "outside_sandbox" });
      await fails(files.delete(path), { kind: "outside_sandbox" });
    }
    await fails(files.move("../a", "b"), { kind: "outside_sandbox", status: 403 });
    await keep.keys.list().all();
  });

  it("text that is no text is refused", async () => {
    const { files } = await fresh();
    await fails(files.read("half \ud800 pair"), { kind: "invalid_path" });
    await fails(files.read("nul\0"), { kind: "invalid_path", status: 400 });
    await fails(files.write("x".repeat(300), "x"), { kind: "invalid_path" });
    await fails(files.read("a", { ifMatch: "new\nline" }), { kind: "invalid_argument" });
  });
}
