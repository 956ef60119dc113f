// Every tool, by every client, on every transport.

import assert from "node:assert/strict";
import { test } from "node:test";

import Ajv2020 from "ajv/dist/2020.js";

import { done, failed, open, rest, ways } from "./clients.mjs";

const LOOKING = ["read_file", "list_directory", "exists", "file_info", "search", "tree", "list_snapshots", "diff"];

/** One call of every tool, each after the one before, and what must be true of what it gives. */
const CALLS = [
  ["write_file", { path: "src/a.txt", content: "one\ntwo\n" }, (data) => data.bytesWritten === 8],
  ["read_file", { path: "src/a.txt" }, (data) => data.content === "one\ntwo\n"],
  ["append_file", { path: "src/a.txt", content: "three\n" }],
  ["edit_file", { path: "src/a.txt", edits: [{ oldText: "two", newText: "2" }] }],
  ["create_directory", { path: "empty" }, (data) => data.created === true],
  ["list_directory", { path: "src" }, (data) => data.entries[0].name === "a.txt"],
  ["exists", { path: "src/a.txt" }, (data) => data.exists === true && data.type === "file"],
  ["file_info", { path: "src/a.txt" }, (data) => data.size === 12],
  ["copy", { from: "src", to: "copy" }],
  ["move", { from: "copy", to: "moved" }],
  ["search", { content: "three" }, (data) => data.matches.length === 2],
  ["tree", {}, (data) => JSON.stringify(data).includes("moved")],
  ["snapshot", { id: "before", message: "as it was" }],
  ["list_snapshots", {}, (data) => data.snapshots[0].id === "before"],
  ["batch", { steps: [{ operation: "write", path: "b.txt", content: "b" }, { operation: "delete", path: "moved", recursive: true }] }],
  ["diff", { from: "before" }, (data) => data.changes.length > 0],
  ["restore", { id: "before" }],
  ["delete", { path: "moved", recursive: true }, (data) => data.deleted === true],
];

for (const way of ways) {
  test(`every tool is listed and can be called: ${way.name}`, async () => {
    const { client, close } = await open(way);
    try {
      const { tools } = await client.listTools();
      assert.deepEqual(tools.map((tool) => tool.name).sort(), CALLS.map(([name]) => name).sort());
      const ajv = new Ajv2020({ strictTypes: false });
      for (const tool of tools) {
        assert.ok(tool.title && tool.description, tool.name);
        assert.equal(tool.annotations.readOnlyHint, LOOKING.includes(tool.name), tool.name);
        assert.equal(tool.annotations.openWorldHint, false);
      }
      for (const [name, args, holds] of CALLS) {
        const tool = tools.find((tool) => tool.name === name);
        assert.ok(ajv.validate(tool.inputSchema, args), `${name}: ${ajv.errorsText()}`);
        const result = await client.callTool({ name, arguments: args });
        assert.equal(result.isError ?? false, false, `${name}: ${result.content[0].text}`);
        assert.equal(result.content[0].type, "text");
        const { structuredContent } = result;
        assert.ok(ajv.validate(tool.outputSchema, structuredContent), `${name}: ${ajv.errorsText()}`);
        assert.equal(structuredContent.success, true);
        assert.equal(structuredContent.metadata.tool, name);
        if (holds) assert.ok(holds(structuredContent.data), `${name}: ${JSON.stringify(structuredContent)}`);
      }
    } finally {
      await close();
    }
  });

  test(`what fails is told so that a model can mend it: ${way.name}`, async () => {
    const { client, close } = await open(way);
    try {
      await done(client, "write_file", { path: "notes.txt", content: "hi" });
      const missing = await failed(client, "read_file", { path: "note.txt" });
      assert.match(missing.content[0].text, /notes\.txt/);
      assert.equal(missing.structuredContent.metadata.kind, "not_found");
      const wrong = await failed(client, "read_file", { paht: "notes.txt" });
      assert.match(wrong.content[0].text, /paht/);
      const out = await failed(client, "read_file", { path: "/../../etc/passwd" });
      assert.match(out.content[0].text, /sandbox/);
      await assert.rejects(client.callTool({ name: "no_such_tool", arguments: {} }), /no tool/);
    } finally {
      await close();
    }
  });

  test(`read-only there is no tool that writes: ${way.name}`, async () => {
    const opened = way.transport === "stdio" ? { flags: ["--read-only"] } : { role: "viewer" };
    const { client, close } = await open(way, opened);
    try {
      const { tools } = await client.listTools();
      assert.deepEqual(tools.map((tool) => tool.name).sort(), [...LOOKING].sort());
      for (const [name, args] of CALLS.filter(([name]) => !LOOKING.includes(name))) {
        const result = await failed(client, name, args);
        assert.equal(result.structuredContent.metadata.kind, "forbidden", name);
      }
      assert.match(client.getInstructions(), /only be looked at/);
    } finally {
      await close();
    }
  });

  test(`one call may be narrowed by its program, and never widened: ${way.name}`, async () => {
    const { client, close } = await open(way);
    try {
      await done(client, "write_file", { path: "a/in.txt", content: "in" });
      await done(client, "write_file", { path: "b/out.txt", content: "out" });
      const call = (path, config) =>
        client.callTool({ name: "read_file", arguments: { path }, _meta: { "sandkeep/config": config } });
      assert.equal((await call("a/in.txt", { allowedPaths: ["a"] })).content[0].text, "in");
      assert.equal((await call("b/out.txt", { allowedPaths: ["a"] })).isError, true);
      assert.equal((await call("b/out.txt", { defaultEncoding: "base64" })).structuredContent.data.content, "b3V0");
      await assert.rejects(call("a/in.txt", { maxFileSize: 2 ** 40 }), /maxFileSize/);
      await assert.rejects(call("a/in.txt", { nonsense: 1 }), /nonsense/);
    } finally {
      await close();
    }
  });

  test(`a long answer comes in parts: ${way.name}`, async () => {
    const { client, close } = await open(way);
    try {
      const content = "0123456789abcdef".repeat(16 * 1024);
      await done(client, "write_file", { path: "long.txt", content });
      let text = "";
      let args = { path: "long.txt" };
      for (let parts = 0; parts < 10 && args; parts += 1) {
        const result = await client.callTool({ name: "read_file", arguments: args });
        text += result.structuredContent.data.content;
        const { truncated } = result.structuredContent.metadata;
        args = truncated ? { ...args, ...truncated.next } : undefined;
      }
      assert.equal(text, content);
    } finally {
      await close();
    }
  });

  test(`whoever asks is told how far a call is: ${way.name}`, async () => {
    const { client, close } = await open(way);
    try {
      const steps = Array.from({ length: 999 }, (_, index) => ({ operation: "write", path: `many/${index}.txt`, content: "needle" }));
      await done(client, "batch", { steps });
      const told = [];
      const data = await done(client, "search", { content: "needle" }, { onprogress: (progress) => told.push(progress) });
      assert.ok(data.matches.length > 100);
      assert.ok(told.length > 0, "nothing was told");
      const numbers = told.map(({ progress }) => progress);
      assert.deepEqual(numbers, [...numbers].sort((a, b) => a - b));
      assert.match(told.at(-1).message, /matches/);
    } finally {
      await close();
    }
  });

  test(`a call that is cancelled ends, and others go on: ${way.name}`, async () => {
    const { client, close } = await open(way);
    try {
      const steps = Array.from({ length: 500 }, (_, index) => ({ operation: "write", path: `d/${index}`, content: "x".repeat(2000) }));
      await done(client, "batch", { steps });
      const abort = new AbortController();
      const slow = client.callTool({ name: "search", arguments: { content: "(x+)+y", regex: true } }, ...rest(client, { signal: abort.signal }));
      setTimeout(() => abort.abort("enough"), 20);
      await slow.catch(() => {});
      assert.equal((await done(client, "exists", { path: "d" })).exists, true);
    } finally {
      await close();
    }
  });
}
