// curl as users of /v2 call it, after initialize (connection acp_conn_1) and with a session named
// my-session.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { emptyDirectory, serve } from "../program.mjs";
import { sources } from "./agents.mjs";

for (const { name, scripts } of sources) {
  describe(name, () => {
    let root, place, server, shell;

    before(async () => {
      [root, place] = [await emptyDirectory(), await emptyDirectory()];
      server = await serve(root);
      await mkdir(join(root, "workspace"));
      await writeFile(join(root, "workspace", "seen.txt"), "seen");
      await mkdir(join(place, "skills", "deep"), { recursive: true });
      await writeFile(join(place, "skills", "deep", "skill.md"), "a skill");
      const names = { BASE_URL: server.baseUrl.replace(/\/$/, ""), SANDBOX_TOKEN: server.token };
      const options = { cwd: place, env: { ...process.env, ...names } };
      shell = async (script) => (await promisify(execFile)("sh", ["-euc", script], options)).stdout;
    });
    after(async () => {
      await server.stop();
      for (const used of [root, place]) await rm(used, { recursive: true });
    });

    /** The JSON that each command printed. */
    const run = async (block) =>
      (await shell(scripts[block]))
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line));

    async function call(method, params, connection) {
      const headers = {
        authorization: `Bearer ${server.token}`,
        "content-type": "application/json",
        ...(connection && { "x-acp-connection-id": connection }),
      };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method, params });
      return fetch(new URL("/v2/rpc", server.baseUrl), { method: "POST", headers, body });
    }

    it("finds the connection and the session that they name", async () => {
      const meta = { "sandboxagent.dev": { agent: "mock" } };
      const greeted = await call("initialize", { protocolVersion: 1, _meta: meta });
      assert.equal(greeted.headers.get("x-acp-connection-id"), "acp_conn_1");
      meta["sandboxagent.dev"].requestedSessionId = "my-session";
      const made = await call("session/new", { mcpServers: [], _meta: meta }, "acp_conn_1");
      assert.equal((await made.json()).result.sessionId, "my-session");
    });

    it("lists a directory of the session", async () => {
      const [{ jsonrpc, result }] = await run("list");
      assert.equal(jsonrpc, "2.0");
      assert.deepEqual(
        result.entries.map(({ name, path, entryType, size }) => [name, path, entryType, size]),
        [["seen.txt", join(root, "workspace", "seen.txt"), "file", 4]],
      );
    });

    it("writes raw bytes and reads them back", async () => {
      const [written] = await run("bytes");
      assert.deepEqual(written, { path: join(root, "notes.txt"), bytesWritten: 5 });
      assert.equal(await readFile(join(place, "notes.txt"), "utf8"), "hello");
    });

    it("makes a directory", async () => {
      const [{ result }] = await run("mkdir");
      assert.deepEqual(result, { path: join(root, "data") });
      assert.deepEqual(await readdir(join(root, "data")), []);
    });

    it("moves, looks and deletes", async () => {
      const [moved, found, gone] = (await run("move")).map(({ result }) => result);
      const old = join(root, "notes-old.txt");
      assert.deepEqual(moved, { from: join(root, "notes.txt"), to: old });
      assert.deepEqual([found.path, found.entryType, found.size], [old, "file", 5]);
      assert.deepEqual(gone, { path: old });
      assert.deepEqual((await readdir(root)).sort(), ["data", "workspace"]);
    });

    it("uploads a tar archive and names what was in it", async () => {
      const [{ paths, truncated }] = await run("tar");
      assert.equal(truncated, false);
      assert.ok(paths.includes(join(root, "skills", "deep", "skill.md")), paths.join());
      const skill = await readFile(join(root, "skills", "deep", "skill.md"), "utf8");
      assert.equal(skill, "a skill");
    });
  });
}
