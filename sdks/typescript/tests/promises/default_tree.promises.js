import { all, collected, equal, fails, numbers } from "../harness/expect.js";
import { losing } from "../harness/losing.js";

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

  it("it lists names of all letters page by page, each once", async () => {
    const tree = await files();
    const names = ["日", "本", "x", "a%b", "50%25", "ü"];
    for (const name of names) await tree.write(`/workspace/${name}`, name);
    const listed = [];
    for await (const { name } of tree.list("/workspace", { pageSize: 1 })) {
      listed.push(name);
      if (listed.length > names.length) break;
    }
    equal(listed.sort(), names.sort());
    const headers = { "x-next-after": "%zz" };
    const broken = connect({ fetch: async () => new Response("[]", { headers }) });
    await fails(all(broken.files.list()), { kind: "not_understood", operation: "files.list" });
  });

  it("a removal whose answer got lost is in doubt", async () => {
    const sandbox = await fresh({ prefix: "/workspace" });
    const { key } = await keep.keys.create({ role: "developer", sandboxes: [sandbox.id] });
    await sandbox.files.write("a", "A");
    const tree = connect({
      fetch: losing(),
      token: undefined,
      key,
      retry: { firstPause: 5 },
    }).files;
    await fails(tree.delete("/workspace/a"), { kind: "in_doubt" });
    equal(await sandbox.files.exists("a"), false);
  });
}
