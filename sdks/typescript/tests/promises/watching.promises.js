import { equal, fails, ok } from "../harness/expect.js";

export default function ({ it, fresh, connect, line, unique, keep }) {
  it("changes are told as they happen", async () => {
    const { files } = await fresh();
    // Several changes may be told as one: each is made when the one before was told.
    const changes = [
      () => files.write("a", "1"),
      () => files.write("a", "22"),
      () => files.move("a", "b"),
      () => files.delete("b"),
    ];
    const seen = [];
    for await (const notice of files.watch()) {
      const { change, path, from, kind, cursor } = notice;
      ok(cursor, "a cursor");
      seen.push([change, path, from, kind].filter((field) => field !== undefined));
      const next = changes.shift();
      if (next === undefined) break;
      await next();
    }
    equal(seen, [
      ["here"],
      ["created", "a", "file"],
      ["modified", "a", "file"],
      ["renamed", "b", "a", "file"],
      ["removed", "b", "file"],
    ]);
  });

  it("only a directory's own names are told if that is wanted", async () => {
    const { files } = await fresh();
    await files.mkdir("dir/sub");
    const seen = [];
    for await (const notice of files.watch("dir", { recursive: false })) {
      if (notice.change === "here") {
        await files.write("elsewhere", "");
        await files.write("dir/sub/deep", "");
        await files.write("dir/near", "");
      } else seen.push(notice.path);
      if (notice.path === "dir/near") break;
    }
    ok(!seen.includes("dir/sub/deep") && !seen.includes("elsewhere"), "nothing from deeper");
  });

  it("a watch goes on behind a cursor that was kept", async () => {
    const { files } = await fresh();
    const first = files.watch();
    for await (const notice of first) if (notice.change === "here") break;
    await files.write("missed-1", "");
    await files.write("missed-2", "");
    const seen = [];
    for await (const notice of files.watch("", { cursor: first.cursor })) {
      seen.push([notice.change, notice.path]);
      if (notice.path === "missed-2") break;
    }
    equal(seen, [
      ["created", "missed-1"],
      ["created", "missed-2"],
    ]);
  });

  it("nothing is missed on a line that is cut again and again", async () => {
    const sandbox = await fresh();
    const cut = connect({ baseUrl: line("cut", 700) }).sandbox(sandbox.id);
    const expected = Array.from({ length: 60 }, (_, at) => `file-${at}`);
    const seen = new Set();
    let writing;
    const write = async () => {
      for (const name of expected) await sandbox.files.write(name, name);
    };
    for await (const notice of cut.files.watch()) {
      if (notice.change === "here") writing ??= write();
      equal(notice.change === "resync", false);
      if (notice.path) seen.add(notice.path);
      if (seen.size === expected.length) break;
    }
    await writing;
    equal([...seen].sort(), [...expected].sort());
  });

  it("an aborted signal ends a watch without an error", async () => {
    const { files } = await fresh();
    const controller = new AbortController();
    const seen = [];
    for await (const notice of files.watch("", { signal: controller.signal })) {
      seen.push(notice.change);
      setTimeout(() => controller.abort(), 20);
    }
    equal(seen, ["here"]);
    for await (const notice of files.watch("", { signal: AbortSignal.abort() })) seen.push(notice);
    equal(seen, ["here"]);
  });

  it("a cursor that nobody knows any more is told as resync", async () => {
    const [one, other] = [await fresh(), await fresh()];
    const watch = one.files.watch();
    for await (const notice of watch) if (notice.change === "here") break;
    for await (const notice of other.files.watch("", { cursor: watch.cursor })) {
      equal([notice.change, notice.reason], ["resync", "unknown_cursor"]);
      break;
    }
  });

  it("a watch fails when there is nothing to watch, or not any more", async () => {
    const sandbox = keep.sandbox(unique("none"));
    const first = async () => {
      for await (const _ of sandbox.files.watch()) return;
    };
    await fails(first, { kind: "sandbox_not_found", operation: "files.watch" });

    const ending = await fresh();
    const whole = async () => {
      for await (const _ of ending.files.watch()) await ending.delete().catch(() => {});
    };
    await fails(whole, { kind: "sandbox_not_found" });
  });

  it("a server that is away is waited for, and that is told", async () => {
    const sandbox = await fresh();
    const told = [];
    const onPresence = (presence) => told.push(presence);
    const retry = { retries: 1, firstPause: 5 };
    const client = connect({ baseUrl: line("away", 5), retry }).sandbox(sandbox.id);
    for await (const notice of client.files.watch("", { onPresence })) {
      if (notice.change === "here") await sandbox.files.write("a", "A");
      if (notice.path !== "a") continue;
      // Cut in the middle of it, the notice comes again.
      if (told.length > 0) break;
      await sandbox.files.write("a", "more");
    }
    equal(told, ["away", "back"]);
  });

  it("a server that stays away is not waited for for ever", async () => {
    const sandbox = await fresh();
    const retry = { retries: 0 };
    const client = connect({ baseUrl: line("away", 10_000), retry }).sandbox(sandbox.id);
    const walk = async () => {
      for await (const { change } of client.files.watch("", { patience: 300 })) {
        if (change === "here") await sandbox.files.write("a", "A");
      }
    };
    await fails(walk, { status: 502, operation: "files.watch" });
  });

  /** The files of a server that answers each watch with the next of these; with the last for ever. */
  function answering(...answers) {
    const asked = [];
    const fetch = async () => {
      asked.push(Date.now());
      const [status, headers, body] = answers.length > 1 ? answers.shift() : answers[0];
      return new Response(body, { status, headers });
    };
    const client = connect({ fetch, retry: { retries: 0 } });
    return { files: client.sandbox("any").files, asked };
  }

  const EVENTS = { "content-type": "text/event-stream" };
  const event = (id, data) => `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
  const walked = async (watch) => {
    for await (const notice of watch) if (notice.change !== "here") return notice;
  };

  it("an answer that is no stream of events is not asked for again", async () => {
    const { files, asked } = answering([200, { "content-type": "text/html" }, "<html>"]);
    await fails(walked(files.watch()), { kind: "not_understood", operation: "files.watch" });
    equal(asked.length, 1);
  });

  it("a server that never says anything is asked less and less, and not for ever", async () => {
    const { files, asked } = answering([200, EVENTS, ""]);
    await fails(walked(files.watch("", { patience: 900 })), { kind: "connection" });
    ok(asked.length >= 3 && asked.length <= 6, `3 to 6 tries, not ${asked.length}`);
  });

  it("a server that has no time is asked again when it says so", async () => {
    const { files, asked } = answering(
      [200, EVENTS, event(1, { change: "here" })],
      [429, { "retry-after": "1" }, ""],
      [200, EVENTS, event(2, { change: "created", path: "a" })],
    );
    equal((await walked(files.watch())).path, "a");
    ok(asked[2] - asked[1] >= 950, "a pause as long as retry-after says");

    const busy = answering(
      [200, EVENTS, event(1, { change: "here" })],
      [429, { "retry-after": "60" }, ""],
    );
    const watch = busy.files.watch("", { patience: 500 });
    await fails(walked(watch), { kind: "too_many_requests", retryAfter: 60 });
  });
}
