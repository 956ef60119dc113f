// TypeScript as users write it, in both kinds of sandboxes, with a key for one sandbox.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { helpers } from "./sources.mjs";
import { kinds, openSandbox } from "./sandbox.mjs";

for (const { name, connect } of helpers) {
  for (const kind of kinds) {
    describe(`${name}, in a ${kind} sandbox`, () => {
      let id, files, strangers, close;
      before(async () => {
        const opened = await openSandbox(kind, "developer");
        ({ id, close } = opened);
        files = connect(opened.baseUrl, opened.key);
        strangers = connect(opened.baseUrl, "ask_nobody_knows");
      });
      after(() => close());

      it("writes and reads a text", async () => {
        await files.writeFile(id, "src/index.html", "<h1>Hello!</h1> ü 文 🦀");
        assert.equal(await files.readFile(id, "src/index.html"), "<h1>Hello!</h1> ü 文 🦀");
      });

      it("writes bytes, and over what is there", async () => {
        await files.writeFile(id, "bytes.bin", "something longer that was there before");
        await files.writeFile(id, "bytes.bin", Uint8Array.of(0x61, 0x00, 0x62));
        assert.equal(await files.readFile(id, "bytes.bin"), "a\0b");
      });

      it("lists a directory", async () => {
        await files.writeFile(id, "listed/app.tsx", "1234");
        await files.writeFile(id, "listed/components/one", "");
        const { entries, total } = await files.listDir(id, "listed");
        assert.equal(total, 2);
        const [file, directory] = entries;
        const shape = ({ name, size, is_dir }) => ({ name, size, is_dir });
        assert.deepEqual(shape(file), { name: "app.tsx", size: 4, is_dir: false });
        assert.deepEqual(shape(directory), { name: "components", size: 0, is_dir: true });
        assert.ok(Number.isInteger(file.mod_time));
        assert.ok(Math.abs(file.mod_time - Date.now() / 1000) < 60);
      });

      it("lists the root when no path is given", async () => {
        await files.writeFile(id, "at-the-root", "x");
        const { entries, total } = await files.listDir(id);
        assert.equal(total, entries.length);
        assert.ok(entries.some(({ name }) => name === "at-the-root"));
      });

      it("deletes a file, a tree and what is not there", async () => {
        await files.writeFile(id, "gone/a/b", "x");
        await files.deleteFile(id, "gone/a/b");
        await assert.rejects(files.readFile(id, "gone/a/b"));
        await files.writeFile(id, "gone/c", "x");
        await files.deleteFile(id, "gone");
        await assert.rejects(files.listDir(id, "gone"));
        await files.deleteFile(id, "gone");
      });

      it("is told in words why something failed", async () => {
        await assert.rejects(files.readFile(id, "nowhere"), /^Error: Read failed: .*not found/s);
        await assert.rejects(files.listDir(id, "nowhere"), /^Error: List failed: .*not found/s);
        await assert.rejects(strangers.writeFile(id, "x", "x"), /^Error: Write failed: .*token/s);
        await assert.rejects(strangers.deleteFile(id, "x"), /^Error: Delete failed: .*token/s);
      });

      it("works as the example shows", async () => {
        const { content, listing } = await files.example(id);
        assert.equal(content, "<h1>Hello!</h1>");
        assert.deepEqual(listing.entries.map(({ name }) => name), ["index.html"]);
      });
    });
  }
}
