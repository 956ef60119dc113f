// What callers do wrong is told as such, and changes nothing.

import { bytes, equal, fails } from "../harness/expect.js";

export default function ({ it, fresh, connect, keep }) {
  it("content that was forgotten is no empty file", async () => {
    const { files, snapshots } = await fresh();
    await files.write("a", "before");
    for (const content of [undefined, null, 5, {}]) {
      for (const call of [
        () => files.write("a", content),
        () => files.append("a", content),
        () => files.unpack("", content),
        () => keep.files.write("a", content),
        () => keep.files.upload("", content),
        () => snapshots.import(content),
        async () => files.batch().write("a", content),
      ]) {
        await fails(call, { name: "SandkeepError", kind: "invalid_argument" });
      }
    }
    equal(await files.readText("a"), "before");
  });

  it("a date that is none is refused", async () => {
    const { files } = await fresh();
    await files.write("a", "before");
    const none = new Date("nonsense");
    for (const call of [
      () => files.chmod("a", { modified: none }),
      () => files.write("a", "after", { ifUnmodifiedSince: none }),
      async () => files.batch().chmod("a", { modified: none }),
    ]) {
      await fails(call, { name: "SandkeepError", kind: "invalid_argument" });
    }
    equal(await files.readText("a"), "before");
  });

  it("what cannot be JSON is not asked for", async () => {
    let asked = 0;
    const fetch = async () => {
      asked += 1;
      throw new TypeError("fetch failed");
    };
    const sandbox = connect({ fetch }).sandbox("any");
    await fails(sandbox.update({ ttl: 5n }), { kind: "invalid_argument" });
    equal(asked, 0);
  });

  it("a listener that fails is told as what it is", async () => {
    const { files } = await fresh();
    await files.write("a", "before");
    const onProgress = () => {
      throw new Error("mine");
    };
    for (const call of [
      () => files.read("a", { onProgress }),
      () => files.write("b", bytes("after"), { onProgress }),
    ]) {
      const error = await fails(call, { kind: "invalid_argument" });
      equal(error.cause.message, "mine");
    }
  });

  it("a time limit that no timer can count is none", async () => {
    await keep.health({ timeout: 3e9 });
    await keep.health({ timeout: Number.POSITIVE_INFINITY });
  });
}
