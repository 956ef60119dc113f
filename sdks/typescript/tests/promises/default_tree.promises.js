import { all, collected, equal, fails, numbers } from "../harness/expect.js";

export default function ({ it, fresh, keep, connect }) {
  /** The files of `/v1/fs`, in a sandbox of this test alone. */
  async function files() {
    const sandbox = await fresh({ prefix: "/workspace" });
    const { key } = await keep.keys.create({ role: "developer", sandboxes: [sandbox.id] });
    return connect({ token: undefined, key }).files;
  }

  it("the eight file methods work on the default tree", async () => {
    const tree = await files();
    equal(await tree.mkdir("/workspace/dir"), { path: "/workspace/dir" });
    equal(await tree.write("/workspace/dir/a.txt", "hello"), {
      path: "/workspace/dir/a.txt",
      bytesWritten: 5,
    });
    equal(await tree.readText("/workspace/dir/a.txt"), "hello");
    const { entryType, size } = await tree.stat("/workspace/dir/a.txt");
    equal([entryType, size], ["file", 5]);
    const moved = await tree.move("/workspace/dir/a.txt", "/workspace/dir/b.txt");
    equal(moved.to, "/workspace/dir/b.txt");
    equal(
      (await all(tree.list("/workspace/dir"))).map((entry) => entry.name),
      ["b.txt"],
    );
    const tar = await collected(await tree.download("/workspace/dir"));
    equal((await tree.upload("/workspace/copy", tar)).truncated, false);
    equal(await tree.readText("/workspace/copy/b.txt"), "hello");
    await tree.delete("/workspace/copy", { recursive: true });
    await fails(tree.stat("/workspace/copy"), { kind: "not_found", status: 400 });
  });

  it("it lists over pages, copies, and overwrites only if told so", async () => {
    const tree = await files();
    for (const name of ["a", "b", "c"]) await tree.write(`/workspace/${name}`, numbers(10));
    const listed = await all(tree.list("/workspace", { pageSize: 2 }));
    equal(
      listed.map((entry) => entry.path),
      ["/workspace/a", "/workspace/b", "/workspace/c"],
    );
    await fails(tree.copy("/workspace/a", "/workspace/b"), { kind: "already_exists" });
    await tree.copy("/workspace/a", "/workspace/b", { overwrite: true });
    await fails(tree.write("/workspace/a", "", { ifNoneMatch: "*" }), {
      kind: "precondition_failed",
    });
    const error = await fails(tree.delete("/workspace"), { name: "SandkeepError" });
    equal([typeof error.hint, error.operation], ["string", "files.delete"]);
  });
}
