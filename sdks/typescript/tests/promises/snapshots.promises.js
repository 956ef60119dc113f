import { all, collected, equal, fails, ok } from "../harness/expect.js";

export default function ({ it, fresh }) {
  it("a snapshot keeps everything, and brings it back", async () => {
    const { files, snapshots } = await fresh();
    await files.write("src/a", "before");
    await files.write("b", "before");
    const labels = { made_by: "test" };
    const kept = await snapshots.create({ id: "one", message: "before it all", labels });
    equal([kept.id, kept.message, kept.labels, kept.files], ["one", "before it all", labels, 2]);
    await files.write("src/a", "after");
    await files.write("b", "after");
    await snapshots.restore("one", { path: "src" });
    equal([await files.readText("src/a"), await files.readText("b")], ["before", "after"]);
    await snapshots.restore("one");
    equal(await files.readText("b"), "before");
    equal((await snapshots.get("one")).createdAt, kept.createdAt);
    await fails(snapshots.create({ id: "one" }), { kind: "already_exists" });
    await snapshots.delete("one");
    await fails(snapshots.get("one"), { kind: "not_found", operation: "snapshots.get" });
  });

  it("snapshots are listed over pages", async () => {
    const { snapshots } = await fresh();
    for (const id of ["c", "a", "b"]) await snapshots.create({ id });
    ok((await snapshots.create()).id, "a name that is made up");
    const ids = (await all(snapshots.list({ pageSize: 1 }))).map((snapshot) => snapshot.id);
    equal([ids.length, ids.filter((id) => id.length === 1)], [4, ["a", "b", "c"]]);
  });

  it("a difference tells what must happen", async () => {
    const sandbox = await fresh();
    const { files, snapshots } = sandbox;
    await files.write("same", "x");
    await files.write("changed", "x");
    await files.write("gone", "unlike the others");
    await snapshots.create({ id: "one" });
    await files.write("changed", "yy");
    await files.write("new", "quite new");
    await files.delete("gone");
    const seen = await all(sandbox.diff({ from: "one" }));
    equal(
      seen.map(({ path, change }) => [path, change]),
      [
        ["changed", "modified"],
        ["gone", "removed"],
        ["new", "added"],
      ],
    );
    equal([seen[0].before.size, seen[0].after.size], [1, 2]);
    await snapshots.create({ id: "two" });
    equal((await all(sandbox.diff({ from: "one", to: "two" }))).length, 3);
    equal(await all(sandbox.diff({ from: "two" })), []);
    await fails(all(sandbox.diff({ from: "none" })), {
      name: "SandkeepError",
      operation: "sandbox.diff",
    });
  });

  it("a snapshot is carried elsewhere, and what is new since then", async () => {
    const [from, to] = [await fresh(), await fresh()];
    await from.files.write("a", "A");
    await from.snapshots.create({ id: "one" });
    await from.files.write("b", "B");
    await from.snapshots.create({ id: "two" });
    const first = await to.snapshots.import(await from.snapshots.export("one"), {
      id: "one",
      message: "carried",
      labels: { from: from.id },
    });
    equal([first.message, first.labels], ["carried", { from: from.id }]);
    const more = await from.snapshots.export("two", { since: "one" });
    await to.snapshots.import(more, { id: "two" });
    await to.snapshots.restore("two");
    equal([await to.files.readText("a"), await to.files.readText("b")], ["A", "B"]);
    const now = await collected(await from.export());
    const [half, whole] = [now.slice(0, now.length / 2), now];
    await fails(to.snapshots.import(half, { id: "half" }), { name: "SandkeepError" });
    equal((await to.snapshots.import(whole, { id: "now" })).files, 2);
  });
}
