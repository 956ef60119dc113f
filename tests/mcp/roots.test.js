// Where a client says to stay.

import assert from "node:assert/strict";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { test } from "node:test";

import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

import { done, failed, onListChanged, soon, stdio } from "./clients.mjs";
import { emptyDirectory } from "../program.mjs";

/** A directory with two parts, and a client that tells these roots of it. */
async function rooted(choose, flags = []) {
  const dir = await emptyDirectory();
  await mkdir(join(dir, "in"));
  await mkdir(join(dir, "out"));
  await writeFile(join(dir, "in/file"), "inside");
  await writeFile(join(dir, "out/file"), "outside");
  await symlink("../out/file", join(dir, "in/link"));
  const roots = { now: choose(dir), asked: 0 };
  const prepare = (client) =>
    client.setRequestHandler(ListRootsRequestSchema, () => {
      roots.asked += 1;
      return { roots: roots.now.map((path) => ({ uri: pathToFileURL(path).href })) };
    });
  const opened = await stdio("1.x", [dir, "--log", "warn", ...flags], { capabilities: { roots: { listChanged: true } }, prepare });
  const close = async () => {
    await opened.close();
    await rm(dir, { recursive: true });
  };
  return { ...opened, dir, roots, close };
}

test("calls stay in the roots that lie in the directory, and others are ignored", async () => {
  const { client, dir, said, close } = await rooted((dir) => [join(dir, "in"), "/etc"]);
  try {
    assert.equal((await done(client, "read_file", { path: "in/file" })).content, "inside");
    for (const path of ["out/file", join(dir, "out/file"), "in/../out/file", "in/link"]) {
      await failed(client, "read_file", { path });
    }
    await failed(client, "write_file", { path: "new", content: "" });
    await failed(client, "move", { from: "in/file", to: "out/moved" });
    const { resources } = await client.listResources();
    assert.deepEqual(resources.map(({ name }) => name), ["in", "file", "link"]);
    await assert.rejects(client.readResource({ uri: `sandkeep://main${dir}/out/file` }));
    await soon(() => said().includes("file:///etc"), "a word on the root that is ignored");
  } finally {
    await close();
  }
});

test("other roots take the place of those before", async () => {
  const { client, dir, roots, close } = await rooted((dir) => [join(dir, "in")]);
  try {
    await done(client, "read_file", { path: "in/file" });
    let lists = 0;
    onListChanged(client, () => (lists += 1));
    roots.now = [join(dir, "out")];
    await client.sendRootsListChanged();
    await soon(() => lists > 0, "a change of the list");
    await failed(client, "read_file", { path: "in/file" });
    assert.equal((await done(client, "read_file", { path: "out/file" })).content, "outside");
    // Whoever closes everything has not opened everything.
    roots.now = [];
    await client.sendRootsListChanged();
    await soon(() => lists > 1, "another change of the list");
    await assert.rejects(client.callTool({ name: "read_file", arguments: { path: "out/file" } }), /--ignore-roots/);
  } finally {
    await close();
  }
});

test("with no root in the directory nothing can be reached, and it is said why", async () => {
  const { client, close } = await rooted(() => ["/usr"]);
  try {
    const call = client.callTool({ name: "read_file", arguments: { path: "in/file" } });
    await assert.rejects(call, /none of the client's roots lies in the served directory.*--ignore-roots/);
    await assert.rejects(client.listResources(), /nothing can be reached/);
  } finally {
    await close();
  }
});

test("a root around the directory leaves all of it", async () => {
  const { client, close } = await rooted((dir) => [join(dir, "..")]);
  try {
    assert.equal((await done(client, "read_file", { path: "out/file" })).content, "outside");
  } finally {
    await close();
  }
});

test("roots can be left out", async () => {
  const { client, roots, close } = await rooted(() => ["/usr"], ["--ignore-roots"]);
  try {
    assert.equal((await done(client, "read_file", { path: "out/file" })).content, "outside");
    assert.equal(roots.asked, 0);
  } finally {
    await close();
  }
});
