import { all, bytes, equal, fails, ok, text } from "../harness/expect.js";

export default function ({ it, fresh, keep, connect, unique, sdk, baseUrl }) {
  it("a key opens what it is for, until it is taken back", async () => {
    const [mine, other] = [await fresh(), await fresh()];
    const made = await keep.keys.create({ role: "viewer", sandboxes: [mine.id], label: "test" });
    ok(made.key.startsWith("ask_"));
    equal((await keep.keys.get(made.id)).label, "test");
    ok((await all(keep.keys.list({ pageSize: 1 }))).some((key) => key.id === made.id));

    await mine.files.write("a", "A");
    const viewer = connect({ token: undefined, key: made.key });
    equal(await viewer.sandbox(mine.id).files.readText("a"), "A");
    const refused = await fails(viewer.sandbox(mine.id).files.write("a", "B"), { status: 403 });
    ok(refused.kind === "forbidden" && refused.hint && refused.requestId, "kind, hint and id");
    await fails(viewer.sandbox(other.id).files.list().all(), { kind: "sandbox_not_found" });
    await keep.keys.revoke(made.id);
    await fails(viewer.sandbox(mine.id).info(), { kind: "token_invalid", status: 401 });
  });

  it("a key is fetched anew for every request if that is wanted", async () => {
    const sandbox = await fresh();
    let asked = 0;
    const key = async () => {
      asked += 1;
      return (await keep.keys.create({ role: "viewer", ttl: 60 })).key;
    };
    const careful = connect({ token: undefined, key });
    await careful.sandbox(sandbox.id).info();
    await careful.sandbox(sandbox.id).info();
    equal(asked, 2);
    const token = () => Promise.reject(new Error("the vault is shut"));
    const error = await fails(connect({ token }).health(), { kind: "token_invalid" });
    equal([error.status, error.cause.message], [undefined, "the vault is shut"]);
    await fails(async () => connect({ key: "ask_x_y" }), { kind: "invalid_argument" });
  });

  it("a signed address needs no key", async () => {
    const sandbox = await fresh();
    await sandbox.files.write("a b.txt", "signed");
    const { url, expiresAt } = await sandbox.sign({ path: "a b.txt", ttl: 60 });
    ok(url.startsWith(baseUrl) && Date.parse(expiresAt) > Date.now(), "a whole address");
    equal(await (await fetch(url)).text(), "signed");
    const up = await sandbox.sign({ path: "up", access: "write", directory: true });
    const target = up.url.replace("?", "/new.txt?");
    equal((await fetch(target, { method: "PUT", body: bytes("by address") })).status, 204);
    equal(text(await sandbox.files.read("up/new.txt")), "by address");
  });

  it("the audit tells what was done, and goes on later", async () => {
    const sandbox = await fresh();
    await sandbox.files.write("a", "12345");
    await sandbox.files.move("a", "b");
    const audit = sandbox.audit({ pageSize: 1 });
    const told = async (log) => {
      let events = [];
      // Events are written down behind what they tell of.
      for (let tries = 0; tries < 100 && events.length === 0; tries += 1) {
        events = (await all(log)).filter((event) => event.path !== undefined);
        if (events.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return events;
    };
    let events = [];
    for (let tries = 0; tries < 100 && events.length < 2; tries += 1) events = await told(audit);
    equal(
      events.map(({ operation, path, outcome }) => [operation, path, outcome]),
      [
        ["write", "a", "ok"],
        ["rename", "b", "ok"],
      ],
    );
    await sandbox.files.delete("b");
    const later = await told(sandbox.audit({ cursor: audit.cursor }));
    equal(
      later.map(({ operation, path }) => [operation, path]),
      [["remove", "b"]],
    );
  });

  it("the server's own logs tell of sandboxes, keys and who was not let in", async () => {
    const id = unique("audited");
    const sandbox = await keep.sandboxes.create({ id });
    await sandbox.delete();
    await fails(connect({ token: "wrong" }).health(), { kind: "token_invalid" });
    const isSeen = async (log, isIt) => {
      for (let tries = 0; tries < 100; tries += 1) {
        if ((await all(log())).some(isIt)) return true;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return false;
    };
    ok(
      await isSeen(
        () => keep.audit(),
        (event) => event.sandbox === id,
      ),
      "the sandbox",
    );
    ok(
      await isSeen(
        () => keep.gateAudit(),
        (event) => event.outcome === "refused",
      ),
      "a refusal",
    );
    ok(keep.audit() instanceof sdk.Audit);
  });
}
