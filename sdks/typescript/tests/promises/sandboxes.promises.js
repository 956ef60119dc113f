import { all, equal, fails, ok } from "../harness/expect.js";

export default function ({ it, keep, fresh, unique, sdk }) {
  it("a sandbox is made, told of, changed and removed", async () => {
    const id = unique("life");
    const sandbox = await keep.sandboxes.create({
      id,
      labels: { team: "blue", kept_as: "is" },
      limits: { totalSize: 1_000_000, nodes: 50 },
      ttl: 3600,
    });
    ok(sandbox instanceof sdk.Sandbox);
    const info = await keep.sandboxes.get(id);
    equal([info.id, info.kind, info.main], [id, "virtual", false]);
    equal(info.labels, { kept_as: "is", team: "blue" });
    equal(info.limits, { fileSize: null, totalSize: 1_000_000, nodes: 50 });
    ok(Date.parse(info.expiresAt) > Date.parse(info.createdAt));

    const changed = await sandbox.update({ labels: { team: null, stage: "two" }, ttl: null });
    equal([changed.labels, changed.expiresAt], [{ kept_as: "is", stage: "two" }, undefined]);
    await sandbox.delete();
    await fails(sandbox.info(), { kind: "sandbox_not_found", status: 404 });
    await fails(keep.sandboxes.delete(id), { kind: "sandbox_not_found" });
  });

  it("an id is made up when none is given", async () => {
    const sandbox = await keep.sandboxes.create();
    ok(sandbox.id.length > 0);
    await sandbox.delete();
  });

  it("an id that is taken is refused, and what has it stays", async () => {
    const sandbox = await fresh();
    await sandbox.files.write("a", "A");
    const error = await fails(keep.sandboxes.create({ id: sandbox.id }), { status: 409 });
    equal([error.kind, error.operation], ["already_exists", "sandboxes.create"]);
    equal(await sandbox.files.readText("a"), "A");
  });

  it("a list goes on over its pages and can be narrowed by labels", async () => {
    const batch = unique("batch");
    const made = [];
    for (let count = 0; count < 5; count += 1) made.push(await fresh({ labels: { batch } }));
    const ids = made.map((sandbox) => sandbox.id).sort();
    const listed = await all(keep.sandboxes.list({ labels: { batch }, pageSize: 2 }));
    equal(listed.map((info) => info.id).sort(), ids);
    equal((await keep.sandboxes.list({ labels: { batch: true } }).all()).length >= 5, true);
    equal(await keep.sandboxes.list({ labels: { batch: "none" } }).all(), []);

    const pages = await all(keep.sandboxes.list({ labels: { batch }, pageSize: 2 }).pages());
    const [first] = pages;
    equal(
      pages.map((page) => page.items.length).reduce((sum, length) => sum + length),
      5,
    );
    const rest = await keep.sandboxes.list({ labels: { batch }, cursor: first.next }).all();
    equal(rest.length, 5 - first.items.length);
  });

  it("a fork begins as a copy and goes its own way", async () => {
    const sandbox = await fresh();
    await sandbox.files.write("a", "before");
    const fork = await sandbox.fork({ id: unique("fork"), labels: { of: sandbox.id } });
    await fork.files.write("a", "after");
    equal(await sandbox.files.readText("a"), "before");
    equal(await fork.files.readText("a"), "after");
    const again = await keep.sandboxes.create({ from: { sandbox: fork.id } });
    equal(await again.files.readText("a"), "after");
  });

  it("a sandbox in a directory of the server can do the same", async () => {
    const sandbox = await fresh({ kind: "host" });
    await sandbox.files.write("a/b.txt", "hello");
    equal(await sandbox.files.readText("a/b.txt"), "hello");
    ok((await sandbox.info()).root.length > 0);
    await fails(sandbox.files.batch().write("c", "C").send(), { kind: "unsupported" });
    await sandbox.delete();
  });

  it("stats tell how much it holds", async () => {
    const sandbox = await fresh({ limits: { fileSize: 10 } });
    await sandbox.files.write("a/b", "12345");
    const { bytes, files, directories, nodes, limits } = await sandbox.stats();
    equal([bytes, files, directories, nodes, limits.fileSize], [5, 1, 2, 3, 10]);
  });

  it("the server says that it is well", async () => {
    equal((await keep.health()).status, "ok");
  });

  it("an id cannot lead to another route", async () => {
    for (const id of ["", ".", ".."]) {
      await fails(async () => keep.sandbox(id), { kind: "invalid_argument" });
    }
    await fails(keep.sandboxes.get("../keys"), { name: "SandkeepError" });
    await fails(keep.sandbox("x").snapshots.get(".."), { kind: "invalid_argument" });
    await fails(keep.keys.get(".."), { kind: "invalid_argument" });
  });
}
