// 300 MiB, up and down, in one piece and as a stream, checked by hash.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { describe, it } from "node:test";
import { openConnected, ways } from "./ways.js";

const PIECE = 1024 * 1024;
const PIECES = 300;
const SIZE = PIECES * PIECE;

for (const way of ways) {
  describe(`the client ${way.name}`, () => {
    it("writes and reads 300 MiB in one piece", async () => {
      const { sdk, root, close } = await way.open();
      try {
        const bytes = Buffer.concat([...pieces()]);
        const written = await sdk.writeFsFile({ path: "large.bin" }, bytes);
        assert.deepEqual(written, { path: `${root}/large.bin`, bytesWritten: SIZE });
        await readsBack(sdk, root);
      } finally {
        await close();
      }
    });
  });
}

it("a client that streams writes and reads 300 MiB", async () => {
  // The client hands a stream on to fetch, which wants to be told that it may send it.
  const streaming = (input, init) => fetch(input, { ...init, duplex: "half" });
  const { sdk, root, close } = await openConnected({ fetch: streaming });
  try {
    const body = ReadableStream.from?.(pieces()) ?? new Blob([...pieces()]).stream();
    const written = await sdk.writeFsFile({ path: "large.bin" }, body);
    assert.equal(written.bytesWritten, SIZE);
    await readsBack(sdk, root);
  } finally {
    await close();
  }
});

async function readsBack(sdk, root) {
  const expected = hash(pieces());
  assert.equal((await sdk.statFs({ path: "large.bin" })).size, SIZE);
  assert.equal(hash([await sdk.readFsFile({ path: "large.bin" })]), expected);
  const onDisk = createHash("sha256");
  for await (const piece of createReadStream(`${root}/large.bin`)) onDisk.update(piece);
  assert.equal(onDisk.digest("hex"), expected);
}

/** Pieces that differ from each other, so that none may be lost, doubled or swapped. */
function* pieces() {
  for (let number = 0; number < PIECES; number += 1) {
    const piece = Buffer.alloc(PIECE, `piece ${number} of the large file; `);
    yield piece;
  }
}

function hash(parts) {
  const sum = createHash("sha256");
  for (const part of parts) sum.update(part);
  return sum.digest("hex");
}
