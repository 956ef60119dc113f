// The Inspector's command line, which people try a server with.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { binary, emptyDirectory, serve } from "../program.mjs";

const run = promisify(execFile);
const inspector = fileURLToPath(new URL("node_modules/.bin/mcp-inspector", import.meta.url));

async function inspect(...args) {
  const { stdout } = await run(inspector, ["--cli", ...args], { timeout: 60_000 });
  return JSON.parse(stdout);
}

test("the Inspector lists and calls tools on stdio", async () => {
  const dir = await emptyDirectory();
  try {
    await writeFile(join(dir, "a.txt"), "seen");
    const server = [binary, "mcp", dir];
    const { tools } = await inspect(...server, "--method", "tools/list");
    assert.ok(tools.some(({ name }) => name === "edit_file"));
    const read = ["--method", "tools/call", "--tool-name", "read_file", "--tool-arg", "path=a.txt"];
    assert.equal((await inspect(...server, ...read)).content[0].text, "seen");
  } finally {
    await rm(dir, { recursive: true });
  }
});

test("the Inspector lists and calls tools over HTTP", async () => {
  const server = await serve("--store", "memory:");
  try {
    const target = [new URL("/mcp", server.baseUrl).href, "--transport", "http"];
    const header = ["--header", `Authorization: Bearer ${server.token}`];
    const { tools } = await inspect(...target, ...header, "--method", "tools/list");
    assert.equal(tools.length, 18);
    const write = ["--tool-name", "write_file", "--tool-arg", "path=a.txt", "--tool-arg", "content=seen"];
    const written = await inspect(...target, ...header, "--method", "tools/call", ...write);
    assert.equal(written.structuredContent.success, true);
    const { resources } = await inspect(...target, ...header, "--method", "resources/list");
    assert.equal(resources.at(-1).uri, "sandkeep://main/a.txt");
  } finally {
    await server.stop();
  }
});
