import { bytes, equal, fails, numbers, ok } from "../harness/expect.js";
import { losing } from "../harness/losing.js";

const QUICK = { firstPause: 5 };

export default function ({ it, fresh, connect, line, runtime }) {
  /** The files of a sandbox on a bad line, on a good one, and how often the bad one was asked. */
  async function on(fault, ...details) {
    const sandbox = await fresh();
    const baseUrl = line(fault, ...details);
    const bad = connect({ baseUrl, retry: QUICK }).sandbox(sandbox.id);
    const [root, , id] = baseUrl.split(/(?<!\/)\/(?!\/)/);
    const asked = async () => Number(await (await fetch(`${root}/count/${id}`)).text());
    return { bad: bad.files, good: sandbox.files, sandbox: bad, asked };
  }

  it("what only looks is asked again", async () => {
    const { bad, good, asked } = await on("lose", 2);
    await good.write("a", "A");
    equal(await bad.readText("a"), "A");
    equal(await asked(), 3);
  });

  it("it is not asked for ever", async () => {
    const { bad, asked } = await on("refuse", 502, 100, "none");
    await fails(bad.stat("a"), { status: 502 });
    equal(await asked(), 4);
  });

  it("a write of whole content is made again, a stream is not, a function is", async () => {
    const whole = await on("lose", 1);
    await whole.bad.write("a", bytes("whole"));
    equal([await whole.asked(), await whole.good.readText("a")], [2, "whole"]);

    const pieces = async function* () {
      yield "piece";
    };
    const stream = await on("lose", 1);
    await fails(stream.bad.write("a", pieces()), { kind: "connection" });
    equal(await stream.asked(), 1);

    const source = await on("lose", 1);
    await source.bad.write("a", pieces);
    equal([await source.asked(), await source.good.readText("a")], [2, "piece"]);
  });

  it("what would happen twice is never repeated", async () => {
    const append = await on("lose", 1);
    await fails(append.bad.append("log", "line\n"), { kind: "connection" });
    equal([await append.asked(), await append.good.readText("log")], [1, "line\n"]);

    const move = await on("lose", 1);
    await move.good.write("a", "A");
    await fails(move.bad.move("a", "b"), { kind: "connection" });
    equal(await move.asked(), 1);

    const batch = await on("lose", 1);
    await fails(batch.bad.batch().write("a", "A").send(), { kind: "connection" });
    equal(await batch.asked(), 1);
  });

  // A browser cannot be kept from it: whoever must be sure there gives a condition.
  if (runtime !== "chromium") {
    it("it is not repeated by the runtime either", async () => {
      const { bad, good, asked } = await on("vanish", 1);
      await fails(bad.append("log", "line\n"), { kind: "connection" });
      await bad.exists("a connection that is used again");
      equal([await asked(), await good.readText("log")], [2, "line\n"]);
    });
  }

  it("a conditional write whose answer got lost is in doubt, and happened once", async () => {
    const { bad, good, asked } = await on("lose", 1);
    const error = await fails(bad.write("a", "A", { ifNoneMatch: "*" }), { kind: "in_doubt" });
    equal([error.cause.kind, await asked()], ["precondition_failed", 2]);
    equal(await good.readText("a"), "A");

    const twice = await on("lose", 2);
    await fails(twice.bad.write("a", "A", { mustBeNew: true }), { kind: "in_doubt" });
    equal([await twice.asked(), await twice.good.readText("a")], [3, "A"]);

    const append = await on("lose", 1);
    const { version } = await append.good.write("log", "one\n");
    await fails(append.bad.append("log", "two\n", { ifMatch: version }), { kind: "in_doubt" });
    equal(await append.good.readText("log"), "one\ntwo\n");
  });

  it("a condition that fails at once is no doubt", async () => {
    const { bad, good, asked } = await on("lose", 0);
    await good.write("a", "A");
    await fails(bad.write("a", "B", { ifNoneMatch: "*" }), { kind: "precondition_failed" });
    equal(await asked(), 1);
  });

  it("a server that asks to come back later is heeded, whatever was wanted", async () => {
    const { bad, good, asked } = await on("refuse", 429, 1, 1);
    const begun = Date.now();
    await bad.append("log", "line\n");
    ok(Date.now() - begun >= 950, "a pause as long as retry-after says");
    equal([await asked(), await good.readText("log")], [2, "line\n"]);
  });

  it("a gateway that fails is asked again only where that is safe", async () => {
    const look = await on("refuse", 502, 2, "none");
    equal(await look.bad.exists("a"), false);
    equal(await look.asked(), 3);
    const change = await on("refuse", 502, 1, "none");
    await fails(change.bad.append("log", "x"), { status: 502 });
    equal(await change.asked(), 1);
  });

  it("a failure that stays is told at once", async () => {
    const { bad, asked } = await on("lose", 0);
    await fails(bad.readText("no"), { kind: "not_found" });
    equal(await asked(), 1);
  });

  it("a file that is cut off is a failure, never a shorter file", async () => {
    const { bad, good } = await on("cut", 1000);
    await good.write("a", numbers(100_000));
    await fails(bad.read("a"), { kind: "connection", operation: "files.get" });
    const { sandbox } = await on("short");
    await fails(sandbox.files.read("a"), { kind: "connection" });
  });

  it("a search that is cut off is a failure", async () => {
    const { bad, good } = await on("cut", 1000);
    await good.write("a", "line\n".repeat(1000));
    await fails(bad.search({ pattern: "line" }).all(), { kind: "connection" });
  });

  it("no pause goes on after the caller gave up", async () => {
    const { bad } = await on("refuse", 503, 100, 9);
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 100);
    const begun = Date.now();
    await fails(bad.stat("a", { signal: controller.signal }), { kind: "aborted" });
    ok(Date.now() - begun < 4_000, "an end in time");
  });

  it("a condition that still holds the second time makes nothing safe", async () => {
    for (const condition of [{ ifMatch: "*" }, { ifNoneMatch: "another-version" }]) {
      const { bad, good, asked } = await on("lose", 1);
      await good.write("log", "one\n");
      await fails(bad.append("log", "two\n", condition), { kind: "connection" });
      equal([await asked(), await good.readText("log")], [1, "one\ntwo\n"]);
    }
    const { bad, good } = await on("lose", 1);
    await good.write("a", "aXb");
    const edit = bad.edit("a", { old: "X", new: "XX", all: true }, { ifMatch: "*" });
    await fails(edit, { kind: "connection" });
    equal(await good.readText("a"), "aXXb");
  });

  it("a removal of what must be there is in doubt when its answer got lost", async () => {
    const { files, id } = await fresh();
    await files.write("a", "A");
    const bad = connect({ fetch: losing(), retry: QUICK }).sandbox(id).files;
    await fails(bad.delete("a", { ifMatch: "*" }), { kind: "in_doubt" });
    equal(await files.exists("a"), false);
  });

  it("a server that asks for a longer pause than allowed is not asked again", async () => {
    const { bad, asked } = await on("refuse", 429, 1, 30);
    await fails(bad.stat("a"), { status: 429, retryAfter: 30 });
    equal(await asked(), 1);
  });
}
