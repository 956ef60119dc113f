// Files and directories as resources, and who is told that they changed.

import assert from "node:assert/strict";
import { appendFile, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { done, onListChanged, onUpdated, open, soon, stdio, subscribe, ways } from "./clients.mjs";
import { emptyDirectory } from "../program.mjs";

for (const way of ways) {
  test(`files are read as text or as bytes, directories as lists: ${way.name}`, async () => {
    const { client, close } = await open(way);
    try {
      await done(client, "write_file", { path: "page.html", content: "<p>\r\n" });
      await done(client, "write_file", { path: "sub/raw.bin", content: "/wA=", encoding: "base64" });
      const { resources } = await client.listResources();
      assert.deepEqual(
        resources.map(({ uri, mimeType }) => [uri, mimeType]),
        [
          ["sandkeep://main/", "inode/directory"],
          ["sandkeep://main/page.html", "text/html"],
          ["sandkeep://main/sub", "inode/directory"],
        ],
      );
      const read = async (uri) => (await client.readResource({ uri })).contents[0];
      assert.equal((await read("sandkeep://main/page.html")).text, "<p>\r\n");
      assert.equal((await read("sandkeep://main/sub/raw.bin")).blob, "/wA=");
      const listed = JSON.parse((await read("sandkeep://main/sub")).text);
      assert.deepEqual(listed.entries, [
        { name: "raw.bin", type: "file", size: 2, uri: "sandkeep://main/sub/raw.bin" },
      ]);
      for (const uri of ["sandkeep://main/none", "sandkeep://other/page.html", "file:///etc/passwd", "sandkeep://main/../../etc/passwd"]) {
        await assert.rejects(read(uri), uri);
      }
      const { resourceTemplates } = await client.listResourceTemplates();
      assert.equal(resourceTemplates[0].uriTemplate, "sandkeep://main/{+path}");
      const { completion } = await client.complete({
        ref: { type: "ref/resource", uri: resourceTemplates[0].uriTemplate },
        argument: { name: "path", value: "s" },
      });
      assert.deepEqual(completion.values, ["sub/"]);
    } finally {
      await close();
    }
  });

  test(`many resources come in pages: ${way.name}`, async () => {
    const { client, close } = await open(way);
    try {
      const steps = Array.from({ length: 450 }, (_, index) => ({ operation: "write", path: `f${index}`, content: "" }));
      await done(client, "batch", { steps });
      const names = new Set();
      let cursor;
      let pages = 0;
      do {
        const page = await client.listResources({ cursor });
        for (const { uri } of page.resources) names.add(uri);
        cursor = page.nextCursor;
        pages += 1;
      } while (cursor && pages < 10);
      assert.equal(names.size, 451);
      await assert.rejects(client.listResources({ cursor: "nonsense" }), /cursor/);
    } finally {
      await close();
    }
  });

  test(`whoever subscribes is told what changed, and no more when he has had enough: ${way.name}`, async () => {
    const { client, close } = await open(way);
    try {
      await done(client, "write_file", { path: "a.txt", content: "1" });
      await done(client, "write_file", { path: "b.txt", content: "1" });
      const told = [];
      let lists = 0;
      onUpdated(client, (uri) => told.push(uri));
      onListChanged(client, () => (lists += 1));
      await client.listResources();
      const uri = "sandkeep://main/a.txt";
      const end = await subscribe(client, uri);
      await done(client, "write_file", { path: "b.txt", content: "2" });
      await done(client, "write_file", { path: "a.txt", content: "2" });
      await soon(() => told.length > 0, "an update");
      assert.deepEqual([...new Set(told)], [uri]);
      await done(client, "write_file", { path: "new.txt", content: "n" });
      await soon(() => lists > 0, "a change of the list");
      await end();
      await new Promise((resolve) => setTimeout(resolve, 400));
      const before = told.length;
      await done(client, "write_file", { path: "a.txt", content: "3" });
      await new Promise((resolve) => setTimeout(resolve, 400));
      assert.equal(told.length, before);
    } finally {
      await close();
    }
  });
}

test("changes that others make in a directory are told, too", async () => {
  const dir = await emptyDirectory();
  await mkdir(join(dir, "sub"));
  await writeFile(join(dir, "log.txt"), "one\n");
  const { client, close } = await stdio("1.x", [dir]);
  try {
    const told = new Set();
    onUpdated(client, (uri) => told.add(uri));
    const [file, sub] = [`sandkeep://main${dir}/log.txt`, `sandkeep://main${dir}/sub`];
    await client.subscribeResource({ uri: file });
    await client.subscribeResource({ uri: sub });
    await appendFile(join(dir, "log.txt"), "two\n");
    await soon(() => told.has(file), "an update of the file");
    await writeFile(join(dir, "sub/new"), "");
    await soon(() => told.has(sub), "an update of the directory");
    await assert.rejects(client.subscribeResource({ uri: `${file}.none` }), /not found/);
  } finally {
    await close();
    await rm(dir, { recursive: true });
  }
});

test("a client subscribes to so many resources and no more", async () => {
  const dir = await emptyDirectory();
  await Promise.all(Array.from({ length: 70 }, (_, index) => writeFile(join(dir, `f${index}`), "")));
  const { client, close } = await stdio("1.x", [dir]);
  try {
    for (let index = 0; index < 64; index += 1) {
      await client.subscribeResource({ uri: `sandkeep://main${dir}/f${index}` });
    }
    await assert.rejects(client.subscribeResource({ uri: `sandkeep://main${dir}/f64` }), /at most 64/);
    await client.unsubscribeResource({ uri: `sandkeep://main${dir}/f0` });
    await client.subscribeResource({ uri: `sandkeep://main${dir}/f64` });
  } finally {
    await close();
    await rm(dir, { recursive: true });
  }
});
