import { all, equal, fails, ok } from "../harness/expect.js";

export default function ({ it, fresh }) {
  it("a stat tells what is there, and exists whether", async () => {
    const { files } = await fresh();
    await files.write("dir/a.txt", "12345");
    const { path, name, kind, size, mode, version } = await files.stat("dir/a.txt");
    equal([path, name, kind, size, mode], ["dir/a.txt", "a.txt", "file", 5, "644"]);
    ok(version);
    equal((await files.stat("")).path, ".");
    equal(await files.exists("dir"), true);
    equal(await files.exists("no"), false);
    equal(await files.exists("dir/a.txt/beneath"), false);
    await fails(files.stat("no"), { kind: "not_found", status: 404, path: "no" });
  });

  it("a directory is listed in pages, by globs, kinds and orders", async () => {
    const { files } = await fresh();
    for (const [at, name] of ["c.txt", "a.txt", "b.md", "sub/d.txt", "sub/deep/e.txt"].entries()) {
      await files.write(name, "x".repeat(at));
    }
    const paths = async (...args) => (await all(files.list(...args))).map((entry) => entry.path);
    equal(await paths(), ["a.txt", "b.md", "c.txt", "sub"]);
    equal(await paths("", { pageSize: 1 }), ["a.txt", "b.md", "c.txt", "sub"]);
    equal(await paths("sub", { recursive: true, pageSize: 2 }), [
      "sub/d.txt",
      "sub/deep",
      "sub/deep/e.txt",
    ]);
    equal(await paths("", { recursive: true, depth: 2, glob: "*.txt" }), [
      "a.txt",
      "c.txt",
      "sub/d.txt",
    ]);
    equal(await paths("", { kind: "directory", recursive: true }), ["sub", "sub/deep"]);
    equal(await paths("", { sort: "size", order: "desc", kind: "file" }), [
      "b.md",
      "a.txt",
      "c.txt",
    ]);
    const [entry] = await files.list("sub", { details: true }).all();
    equal([entry.isDir, entry.size, entry.stat.path], [false, 3, "sub/d.txt"]);
    ok(Math.abs(entry.modTime - Date.now() / 1000) < 60, "a time that is now");
  });

  it("no more entries are listed than are wanted", async () => {
    const { files } = await fresh();
    for (const name of ["a", "b", "c", "d", "e"]) await files.write(name, name);
    const names = async (options) => (await files.list("", options).all()).map(({ name }) => name);
    equal(await names({ limit: 3, pageSize: 2 }), ["a", "b", "c"]);
    equal(await names({ limit: 2, order: "desc" }), ["e", "d"]);
    equal(await names({ order: "desc", pageSize: 1 }), ["e", "d", "c", "b", "a"]);
  });

  it("a listing goes on where an earlier one ended", async () => {
    const { files } = await fresh();
    for (const name of ["a", "b", "c", "d", "e"]) await files.write(name, name);
    const pages = files.list("", { pageSize: 2 }).pages();
    const { value: first } = await pages.next();
    await pages.return();
    const rest = await files.list("", { cursor: first.next }).all();
    equal(
      rest.map((entry) => entry.name),
      ["c", "d", "e"],
    );
  });

  it("directories are made, with their parents or alone", async () => {
    const { files } = await fresh();
    equal((await files.mkdir("a/b/c")).kind, "directory");
    await files.mkdir("a/b/c");
    await fails(files.mkdir("a/b/c", { parents: false }), { kind: "already_exists" });
    await fails(files.mkdir("x/y", { parents: false }), { kind: "not_found" });
    await files.write("file", "");
    await fails(files.mkdir("file"), { name: "SandkeepError" });
  });

  it("things move and are copied, onto others only if told so", async () => {
    const { files } = await fresh();
    await files.write("a", "A");
    await files.write("b", "B");
    await fails(files.move("a", "b"), { kind: "already_exists", status: 409 });
    equal((await files.move("a", "b", { target: "replace" })).path, "b");
    equal([await files.exists("a"), await files.readText("b")], [false, "A"]);
    equal((await files.copy("b", "deep/c")).path, "deep/c");
    equal([await files.readText("b"), await files.readText("deep/c")], ["A", "A"]);
    await files.write("other/d", "D");
    await files.move("other", "deep", { target: "merge" });
    equal(
      (await files.list("deep").all()).map((entry) => entry.name),
      ["c", "d"],
    );
  });

  it("links lead inside, and are looked at themselves", async () => {
    const { files } = await fresh();
    await files.write("real", "content");
    equal((await files.link("link", "real")).kind, "symlink");
    equal(await files.readLink("link"), "real");
    equal(await files.readText("link"), "content");
    equal((await files.stat("link")).kind, "file");
    equal((await files.stat("link", { follow: false })).kind, "symlink");
    await files.link("out", "../../etc/passwd");
    await fails(files.read("out"), { kind: "outside_sandbox", status: 403 });
    await fails(files.link("link", "elsewhere"), { kind: "already_exists" });
  });

  it("modes, times and lengths change", async () => {
    const { files } = await fresh();
    await files.write("a", "12345");
    const time = new Date("2020-02-02T02:02:02Z");
    const changed = await files.chmod("a", { mode: "755", modified: time });
    equal([changed.mode, Date.parse(changed.modified)], ["755", time.getTime()]);
    equal((await files.truncate("a", 2)).size, 2);
    equal((await files.truncate("a", 4)).size, 4);
    equal(await files.readText("a"), "12\0\0");
  });

  it("what is removed is gone, and so is what was not there", async () => {
    const { files } = await fresh();
    const { version } = await files.write("dir/a", "1");
    await fails(files.delete("dir", { recursive: false }), { kind: "directory_not_empty" });
    await fails(files.delete("dir/a", { ifMatch: "0123" }), { kind: "precondition_failed" });
    await files.delete("dir/a", { ifMatch: version });
    await files.delete("dir");
    await files.delete("dir");
    await fails(files.delete("dir", { mustExist: true }), { kind: "not_found", status: 404 });
  });
}
