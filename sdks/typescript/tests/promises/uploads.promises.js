// Uploads whose source or caller behaves otherwise than expected.

import { equal, fails, numbers, ok, until } from "../harness/expect.js";

export default function ({ it, fresh, connect, line, runtime }) {
  const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

  it("an upload that is aborted before it begins is not made", async () => {
    const { files } = await fresh();
    const controller = new AbortController();
    const upload = files.write("big.bin", new Uint8Array(5_000_000), { signal: controller.signal });
    controller.abort();
    await fails(upload, { kind: "aborted", operation: "files.write" });
    equal(await files.exists("big.bin"), false);
  });

  it("a source may be slower than a server may be silent", async () => {
    const { files } = await fresh();
    const slow = async function* () {
      yield "one ";
      await wait(1_200);
      yield "two";
    };
    equal((await files.write("a", slow(), { timeout: 800 })).size, 7);
  });

  it("a server that does not take what it is sent is silent nevertheless", async () => {
    const { files } = connect({ baseUrl: line("silence") }).sandbox("any");
    const endless = async function* () {
      while (true) yield numbers(1_000_000);
    };
    const source = async function* () {
      yield numbers(1_000);
    };
    await fails(files.write("a", source(), { timeout: 200 }), { kind: "timeout" });
    await fails(files.append("a", numbers(3_000_000), { timeout: 200 }), { kind: "timeout" });
    // A browser would hold it all.
    if (runtime !== "chromium") {
      await fails(files.write("a", endless(), { timeout: 200 }), { kind: "timeout" });
    }
  });

  it("a stream that stalls is let go when the upload is aborted", async () => {
    const { files } = await fresh();
    let [isCancelled, isReturned] = [false, false];
    const stalled = new ReadableStream({
      start: (controller) => controller.enqueue(numbers(10)),
      pull: () => new Promise(() => {}),
      cancel: () => {
        isCancelled = true;
      },
    });
    const iterable = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return: async () => {
          isReturned = true;
          return { done: true };
        },
      }),
    };
    for (const source of [stalled, iterable]) {
      const writing = files.write("a", source, { signal: AbortSignal.timeout(100) });
      await fails(writing, { kind: "aborted" });
    }
    await until(() => isCancelled && isReturned);
    equal(await files.exists("a"), false);
  });

  it("nothing of an aborted upload goes on", async () => {
    const { files } = await fresh();
    const timers = watchTimers(98_765);
    let pieces = 0;
    const source = async function* () {
      for (; pieces < 6; pieces += 1) {
        yield "piece";
        await wait(50);
      }
    };
    try {
      const options = { signal: AbortSignal.timeout(120), timeout: 98_765 };
      await fails(files.write("a", source(), options), { kind: "aborted" });
      await wait(200);
      // A browser holds the source before it asks anybody.
      ok(timers.begun > 0 || runtime === "chromium", "a time limit");
      equal(timers.left(), 0);
      ok(pieces < 6, "an end of the source");
    } finally {
      timers.end();
    }
  });

  it("functions for tokens and content are not waited for by those who gave up", async () => {
    const { files } = await fresh();
    const never = () => new Promise(() => {});
    const waiting = connect({ token: never });
    await fails(waiting.health({ signal: AbortSignal.timeout(50) }), { kind: "aborted" });
    await fails(waiting.health({ timeout: 50 }), { kind: "timeout", operation: "health" });
    const signal = AbortSignal.timeout(50);
    await fails(files.write("a", never, { signal }), { kind: "aborted" });
    await fails(files.write("a", never, { timeout: 50 }), { kind: "timeout" });
    const broken = connect({ token: () => Promise.reject(new Error("no")) });
    await fails(broken.health(), { kind: "token_invalid" });
  });
}

/** Counts the timers of so many milliseconds that were begun, and those that are left. */
function watchTimers(milliseconds) {
  const { setTimeout, clearTimeout } = globalThis;
  const running = new Set();
  const timers = { begun: 0, left: () => running.size };
  globalThis.setTimeout = (work, delay, ...more) => {
    const timer = setTimeout(work, delay, ...more);
    if (delay === milliseconds) {
      timers.begun += 1;
      running.add(timer);
    }
    return timer;
  };
  globalThis.clearTimeout = (timer) => {
    running.delete(timer);
    clearTimeout(timer);
  };
  timers.end = () => {
    Object.assign(globalThis, { setTimeout, clearTimeout });
    for (const timer of running) clearTimeout(timer);
  };
  return timers;
}
