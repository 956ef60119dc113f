// Names that a shell or a program would take for something else are plain names.

import assert from "node:assert/strict";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { done, open, stdio, ways } from "./clients.mjs";
import { emptyDirectory } from "../program.mjs";

const NAMES = [
  "-delete", "--help", "-rf", "--", "a b", " lead", "trail ", "$(reboot)", "`id`", "a;b", "a|b", "a&&b", "a>b",
  "it's", 'say "hi"', "new\nline", "tab\there", "back\\slash", "*", "?", "[a]", "{a,b}", "~", "#", "%41", "%", "...",
  "ünï", "日本", "\u202egnp", "😀",
];

for (const way of ways) {
  test(`odd names are names like others: ${way.name}`, async () => {
    const { client, close } = await open(way);
    try {
      for (const name of NAMES) {
        await done(client, "write_file", { path: `odd/${name}`, content: name });
        assert.equal((await done(client, "read_file", { path: `odd/${name}` })).content, name);
        assert.equal((await done(client, "exists", { path: `odd/${name}` })).type, "file");
      }
      const listed = await done(client, "list_directory", { path: "odd", recursive: true });
      assert.deepEqual(listed.entries.map((entry) => entry.name).sort(), [...NAMES].sort());
      const { contents } = await client.readResource({ uri: "sandkeep://main/odd" });
      for (const { name, uri } of JSON.parse(contents[0].text).entries) {
        const { contents } = await client.readResource({ uri });
        assert.equal(contents[0].text, name);
      }
      for (const name of NAMES) await done(client, "delete", { path: `odd/${name}` });
      assert.deepEqual((await done(client, "list_directory", { path: "odd" })).entries, []);
    } finally {
      await close();
    }
  });
}

test("a name that is no UTF-8 can be listed, read, moved and deleted", async () => {
  const dir = await emptyDirectory();
  const raw = Buffer.concat([Buffer.from(`${dir}/caf`), Buffer.from([0xe9])]);
  await writeFile(raw, "coffee");
  const { client, close } = await stdio("1.x", [dir]);
  try {
    const [entry] = (await done(client, "list_directory")).entries;
    assert.equal((await done(client, "read_file", { path: entry.path })).content, "coffee");
    const { resources } = await client.listResources();
    const { contents } = await client.readResource({ uri: resources.at(-1).uri });
    assert.equal(contents[0].text, "coffee");
    await done(client, "move", { from: entry.path, to: "cafe" });
    assert.equal(await readFile(join(dir, "cafe"), "utf8"), "coffee");
  } finally {
    await close();
    await rm(dir, { recursive: true });
  }
});

test("an option as a path deletes nothing of a real directory", async () => {
  const dir = await emptyDirectory();
  await mkdir(join(dir, "kept"));
  await writeFile(join(dir, "kept/file"), "still here");
  const { client, close } = await stdio("1.x", [dir]);
  try {
    for (const path of ["-delete", "--help", "-exec rm -rf {} +"]) {
      for (const name of ["list_directory", "read_file", "delete", "file_info", "tree"]) {
        assert.equal((await client.callTool({ name, arguments: { path } })).isError, true, `${name} ${path}`);
      }
    }
    assert.deepEqual(await readdir(dir), ["kept"]);
    assert.equal(await readFile(join(dir, "kept/file"), "utf8"), "still here");
  } finally {
    await close();
    await rm(dir, { recursive: true });
  }
});
