// Large files: nginx gathers nothing of them, neither in memory nor on its disk.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { answer, ask, begin, send, whole } from "./client.js";
import { open } from "./setting.js";

const PIECE = Buffer.alloc(1 << 20, "a piece of the large file; ");
const PIECES = process.env.SANDKEEP_LONG ? 1536 : 256;
const SIZE = PIECES * PIECE.length;
// A worker with its libraries and the connections of a test takes an eighth of it.
const MOST_MEMORY = 64 << 20;

describe("a large file", () => {
  let setting, proxied, file;
  before(async () => {
    setting = await open();
    proxied = setting.proxied;
    file = `${setting.root}/fs/large.bin`;
  });
  after(() => setting.close());

  async function gathersNothing() {
    assert.deepEqual(await setting.nginx.temporaryFiles(), []);
    const memory = await setting.nginx.mostMemory();
    assert.ok(memory < MOST_MEMORY, `${memory}`);
  }

  for (const { framing, headers } of [
    { framing: "with its length", headers: { "content-length": SIZE } },
    { framing: "in chunks", headers: { "transfer-encoding": "chunked" } },
  ]) {
    it(`is streamed to the server when it is sent ${framing}`, async () => {
      const request = begin(proxied, file, { method: "PUT", headers });
      // The server answers as soon as it has all that was announced, before the request is ended.
      const answered = answer(request);
      for (let sent = 0; sent < PIECES; sent += 1) {
        await send(request, PIECE);
        if (sent % 64 === 0) await gathersNothing();
      }
      await gathersNothing();
      request.end();
      const { status, body } = await whole(await answered);
      assert.equal(status, 204, body.toString());
      const { headers: kept } = await ask(proxied, file, { method: "HEAD" });
      assert.equal(kept["content-length"], `${SIZE}`);
    });
  }

  it("is streamed to whoever reads it, as slowly as he likes", async () => {
    const request = begin(proxied, file);
    request.end();
    const response = await answer(request);
    let [received, pieces] = [0, 0];
    for await (const piece of response) {
      received += piece.length;
      pieces += 1;
      // Time for nginx to run ahead of the reader, if it did.
      if (pieces % 4000 === 1) await Promise.all([pause(200), gathersNothing()]);
    }
    assert.equal(received, SIZE);
    await gathersNothing();
  });

  it("is read in part", async () => {
    const headers = { range: `bytes=${SIZE - 5}-` };
    const part = await ask(proxied, file, { headers });
    assert.equal(part.status, 206);
    assert.deepEqual(part.body, PIECE.subarray(-5));
  });

  it("stays as it was when whoever sends another breaks off", async () => {
    const headers = { "transfer-encoding": "chunked" };
    const request = begin(proxied, file, { method: "PUT", headers });
    request.on("error", () => {});
    await send(request, PIECE);
    request.destroy();
    while (!/"PUT .*\/large\.bin" 4/.test(await setting.nginx.accessLog())) await pause(20);
    const { headers: kept } = await ask(proxied, file, { method: "HEAD" });
    assert.equal(kept["content-length"], `${SIZE}`);
  });
});

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
