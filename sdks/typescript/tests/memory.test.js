// However long a stream is, it costs no more memory than a short one.

import { strict as assert } from "node:assert";
import { describe, it } from "node:test";
import { serveSandboxes } from "../../../tests/program.mjs";
import { Sandkeep } from "../dist/esm/index.js";

const MIB = 1024 * 1024;
const LENGTH = 512 * MIB;
/** Less than a quarter of it, and more than what a collector leaves lying about. */
const MOST = 120 * MIB;

describe("memory", () => {
  it("half a gibibyte goes up and comes down in pieces", async () => {
    const server = await serveSandboxes();
    const keep = new Sandkeep({ baseUrl: server.baseUrl, token: server.token });
    const { files } = await keep.sandboxes.create({ kind: "host" });
    const piece = new Uint8Array(MIB).fill(7);
    const before = process.memoryUsage().rss;
    let highest = before;
    const look = () => {
      highest = Math.max(highest, process.memoryUsage().rss);
    };
    async function* pieces() {
      for (let sent = 0; sent < LENGTH; sent += MIB) {
        look();
        yield piece;
      }
    }
    try {
      assert.equal((await files.write("large", pieces())).size, LENGTH);
      let [length, isRight] = [0, true];
      for await (const part of await files.readStream("large")) {
        look();
        length += part.byteLength;
        isRight &&= part[0] === 7 && part.at(-1) === 7;
      }
      assert.deepEqual([length, isRight], [LENGTH, true]);
      assert.ok(highest - before < MOST, `${Math.round((highest - before) / MIB)} MiB more`);
    } finally {
      await server.close();
    }
  });
});
