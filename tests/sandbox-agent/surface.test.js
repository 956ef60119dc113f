// The whole file surface of the published client, once for each way to reach a server.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { readFile, stat } from "node:fs/promises";
import { tar } from "./tar.js";
import { ways } from "./ways.js";

for (const way of ways) {
  describe(`the client ${way.name}`, () => {
    let sdk, root, close;
    before(async () => ({ sdk, root, close } = await way.open()));
    after(() => close());

    it("finds the server healthy", async () => {
      assert.deepEqual(await sdk.getHealth(), { status: "ok" });
    });

    it("writes and reads a text at a relative path", async () => {
      const written = await sdk.writeFsFile({ path: "notes/hello.txt" }, "hello");
      assert.deepEqual(written, { path: `${root}/notes/hello.txt`, bytesWritten: 5 });
      const read = await sdk.readFsFile({ path: "notes/hello.txt" });
      assert.equal(Buffer.from(read).toString(), "hello");
    });

    it("writes and reads bytes at an absolute path", async () => {
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      const path = `${root}/bytes.bin`;
      assert.deepEqual(await sdk.writeFsFile({ path }, bytes), { path, bytesWritten: 256 });
      assert.deepEqual(await sdk.readFsFile({ path }), bytes);
      assert.deepEqual(new Uint8Array(await readFile(path)), bytes);
    });

    it("writes a blob and an empty file", async () => {
      const blob = await sdk.writeFsFile({ path: "blob" }, new Blob(["from ", "a blob"]));
      assert.equal(blob.bytesWritten, 11);
      const empty = await sdk.writeFsFile({ path: "empty" }, "");
      assert.equal(empty.bytesWritten, 0);
      assert.equal((await sdk.readFsFile({ path: "empty" })).length, 0);
    });

    it("keeps names with spaces, signs and letters of any script", async () => {
      const name = "a +b%41&c=d#e?ü 文 🦀.txt";
      await sdk.writeFsFile({ path: `names/${name}` }, name);
      const [entry] = await sdk.listFsEntries({ path: "names" });
      assert.equal(entry.name, name);
      assert.equal(Buffer.from(await sdk.readFsFile({ path: entry.path })).toString(), name);
    });

    it("makes directories, also such as exist", async () => {
      const made = { path: `${root}/one/two/three` };
      assert.deepEqual(await sdk.mkdirFs({ path: "one/two/three" }), made);
      assert.deepEqual(await sdk.mkdirFs({ path: `${root}/one/two/three` }), made);
    });

    it("lists a directory", async () => {
      await sdk.writeFsFile({ path: "listed/b.txt" }, "1234");
      await sdk.mkdirFs({ path: "listed/a" });
      const entries = await sdk.listFsEntries({ path: "listed" });
      assert.deepEqual(entries.map((entry) => entry.name), ["a", "b.txt"]);
      assert.equal(entries[0].entryType, "directory");
      const { modified, ...file } = entries[1];
      const expected = { name: "b.txt", path: `${root}/listed/b.txt`, entryType: "file", size: 4 };
      assert.deepEqual(file, expected);
      assert.match(modified, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00$/);
    });

    it("lists the home when no path is given", async () => {
      await sdk.writeFsFile({ path: "at-home" }, "x");
      const names = (await sdk.listFsEntries()).map((entry) => entry.name);
      assert.ok(names.includes("at-home"), names.join());
    });

    it("tells what a file and a directory are", async () => {
      await sdk.writeFsFile({ path: "told/file" }, "123");
      const { modified, ...file } = await sdk.statFs({ path: "told/file" });
      assert.deepEqual(file, { path: `${root}/told/file`, entryType: "file", size: 3 });
      assert.ok(Math.abs(Date.parse(modified) - Date.now()) < 60_000);
      assert.equal((await sdk.statFs({ path: `${root}/told` })).entryType, "directory");
    });

    it("moves, and onto something only when told to", async () => {
      await sdk.writeFsFile({ path: "from" }, "new");
      await sdk.writeFsFile({ path: "to" }, "old");
      const refused = { status: 400, problem: detail(`destination already exists: ${root}/to`) };
      await assert.rejects(sdk.moveFs({ from: "from", to: "to" }), like(refused));
      const moved = await sdk.moveFs({ from: "from", to: `${root}/to`, overwrite: true });
      assert.deepEqual(moved, { from: `${root}/from`, to: `${root}/to` });
      assert.equal(Buffer.from(await sdk.readFsFile({ path: "to" })).toString(), "new");
      await assert.rejects(sdk.statFs({ path: "from" }), like({ status: 400 }));
    });

    it("moves a directory to a place that has yet to be made", async () => {
      await sdk.writeFsFile({ path: "tree/leaf" }, "x");
      await sdk.moveFs({ from: "tree", to: "far/away/tree" });
      assert.equal((await sdk.statFs({ path: "far/away/tree/leaf" })).size, 1);
    });

    it("deletes a file, an empty directory, and a tree only when told to", async () => {
      await sdk.writeFsFile({ path: "gone/a/b" }, "x");
      const path = `${root}/gone/a/b`;
      assert.deepEqual(await sdk.deleteFsEntry({ path: "gone/a/b" }), { path });
      await sdk.deleteFsEntry({ path: "gone/a" });
      await sdk.writeFsFile({ path: "gone/c" }, "x");
      await assert.rejects(sdk.deleteFsEntry({ path: "gone" }), like({ status: 409 }));
      await sdk.deleteFsEntry({ path: "gone", recursive: true });
      await assert.rejects(sdk.statFs({ path: "gone" }), like({ status: 400 }));
    });

    it("uploads an archive", async () => {
      const archive = tar([
        { name: "./" },
        { name: "src/" },
        { name: "src/main.js", content: "1" },
        { name: "README.md", content: "# hello" },
      ]);
      const answer = await sdk.uploadFsBatch(archive, { path: "project" });
      const paths = ["src", "src/main.js", "README.md"].map((name) => `${root}/project/${name}`);
      assert.deepEqual(answer, { paths, truncated: false });
      assert.equal(await readFile(`${root}/project/README.md`, "utf8"), "# hello");
      const { mode, mtimeMs } = await stat(`${root}/project/README.md`);
      assert.equal(mode & 0o7777, 0o640);
      assert.equal(mtimeMs, 1_700_000_000_000);
    });

    it("uploads 1,030 files and is told of 1,024", async () => {
      const members = Array.from({ length: 1030 }, (_, n) => ({ name: `f${n}`, content: `${n}` }));
      const answer = await sdk.uploadFsBatch(tar(members), { path: "many" });
      assert.equal(answer.paths.length, 1024);
      assert.equal(answer.paths[1023], `${root}/many/f1023`);
      assert.equal(answer.truncated, true);
      assert.equal((await sdk.listFsEntries({ path: "many" })).length, 1030);
    });

    it("is told that a path is not found in the words that programs look for", async () => {
      const missing = { status: 400, problem: detail(`path not found: ${root}/nowhere`) };
      await assert.rejects(sdk.statFs({ path: "nowhere" }), like(missing));
      await assert.rejects(sdk.readFsFile({ path: "nowhere" }), like(missing));
      await assert.rejects(sdk.listFsEntries({ path: "nowhere" }), like(missing));
      await assert.rejects(sdk.deleteFsEntry({ path: "nowhere" }), like(missing));
      await assert.rejects(sdk.moveFs({ from: "nowhere", to: "x" }), like(missing));
    });

    it("is told that a path is of the other type in the words that programs look for", async () => {
      await sdk.writeFsFile({ path: "typed/file" }, "x");
      const noFile = { status: 400, problem: detail(`path is not a file: ${root}/typed`) };
      await assert.rejects(sdk.readFsFile({ path: "typed" }), like(noFile));
      const path = `${root}/typed/file`;
      const noDirectory = { status: 400, problem: detail(`path is not a directory: ${path}`) };
      await assert.rejects(sdk.listFsEntries({ path }), like(noDirectory));
    });

    it("may not climb with a relative path", async () => {
      const refused = { status: 400, problem: detail("invalid relative path: a/../../b") };
      await assert.rejects(sdk.readFsFile({ path: "a/../../b" }), like(refused));
      await assert.rejects(sdk.writeFsFile({ path: "a/../../b" }, "x"), like(refused));
    });

    it("is told that an archive with a climbing name is refused, whole", async () => {
      const archive = tar([{ name: "fine" }, { name: "../climbs", content: "x" }]);
      const refused = { status: 400, problem: detail("invalid relative path: ../climbs") };
      await assert.rejects(sdk.uploadFsBatch(archive, { path: "hostile" }), like(refused));
      await assert.rejects(sdk.statFs({ path: "hostile/fine" }), like({ status: 400 }));
    });
  });
}

function detail(message) {
  return {
    type: "urn:sandbox-agent:error:invalid_request",
    title: "Invalid Request",
    status: 400,
    detail: `invalid request: ${message}`,
  };
}

/** Asserts that an error has at least these properties. */
function like(expected) {
  return (error) => {
    assert.equal(error.name, "SandboxAgentError");
    assert.equal(error.status, expected.status);
    for (const [key, value] of Object.entries(expected.problem ?? {})) {
      assert.equal(error.problem?.[key], value);
    }
    return true;
  };
}
