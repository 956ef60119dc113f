// The eight file methods of the client for agents.

import { badLine, isCall } from "../harness/agent_line.js";
import { agents } from "../harness/agents.js";
import { equal, fails, ok, text } from "../harness/expect.js";
import { tar } from "../harness/tar.js";

export default function ({ it, ...tools }) {
  const withClient = agents(tools);

  /** A client in a session of its own, whose directory is empty. */
  const inSession = (use, options = {}) =>
    withClient(options, async (client, directory) => {
      const { sessionId } = await client.newSession({ cwd: directory });
      await use({ client, sessionId, directory });
    });

  it("works on files with an address, a token and an agent, as the specification has it", () =>
    inSession(async ({ client, sessionId, directory }) => {
      equal(client.connected, true);
      const written = await client.writeFsFile({ path: "./notes.txt", sessionId }, "hello");
      equal(written.path, `${directory}/notes.txt`);
      equal(text(await client.readFsFile({ path: "./notes.txt", sessionId })), "hello");
    }));

  it("lists a directory of a session, with both spellings", () =>
    inSession(async ({ client, sessionId, directory }) => {
      await client.writeFsFile({ path: "listed/b.txt", sessionId }, "1234");
      await client.mkdirFs({ path: "listed/a", sessionId });
      const entries = await client.listFsEntries({ path: "./listed", sessionId });
      equal(
        entries.map(({ name }) => name),
        ["a", "b.txt"],
      );
      const [made, file] = entries;
      equal(made.entryType, "directory");
      equal(made.entry_type, "directory");
      equal(file.path, `${directory}/listed/b.txt`);
      equal(file.size, 4);
      ok(Math.abs(Date.parse(file.modified) - Date.now()) < 60_000);
      const all = await client.listFsEntries({ sessionId });
      equal(
        all.map(({ name }) => name),
        ["listed"],
      );
    }));

  it("writes texts and bytes and reads bytes", () =>
    inSession(async ({ client, sessionId }) => {
      const query = { path: "deep/er/file", sessionId };
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      const bodies = [
        ["hello", "hello"],
        ["", ""],
        [bytes, bytes],
        [bytes.buffer, bytes],
        [new Blob(["from ", "a blob"]), "from a blob"],
        [new Blob(["a stream"]).stream(), "a stream"],
        [new URLSearchParams({ a: "b c" }), "a=b+c"],
      ];
      for (const [body, expected] of bodies) {
        const all = typeof expected === "string" ? new TextEncoder().encode(expected) : expected;
        const written = await client.writeFsFile(query, body);
        equal(written.bytesWritten, all.length);
        equal(written.bytes_written, all.length);
        equal([...(await client.readFsFile(query))], [...all]);
      }
    }));

  it("makes directories, also such as exist", () =>
    inSession(async ({ client, sessionId, directory }) => {
      const path = `${directory}/one/two`;
      equal((await client.mkdirFs({ path: "one/two", sessionId })).path, path);
      equal((await client.mkdirFs({ path })).path, path);
    }));

  it("moves in a session, and onto something only when told to", () =>
    inSession(async ({ client, sessionId, directory }) => {
      await client.writeFsFile({ path: "from", sessionId }, "new");
      await client.writeFsFile({ path: "to", sessionId }, "old");
      const refused = client.moveFs({ from: "from", to: "to" }, { sessionId });
      await fails(refused, { status: 400 });
      const request = { from: "from", to: "to", overwrite: true };
      const moved = await client.moveFs(request, { sessionId });
      equal(moved, { from: `${directory}/from`, to: `${directory}/to` });
      equal(text(await client.readFsFile({ path: "to", sessionId })), "new");
    }));

  it("tells what a file and a directory are, with both spellings", () =>
    inSession(async ({ client, sessionId, directory }) => {
      await client.writeFsFile({ path: "told/file", sessionId }, "123");
      const stat = await client.statFs({ path: "told/file", sessionId });
      equal(stat.path, `${directory}/told/file`);
      equal([stat.entryType, stat.entry_type, stat.size], ["file", "file", 3]);
      const directoryStat = await client.statFs({ path: "told", sessionId });
      equal(directoryStat.entryType, "directory");
    }));

  it("deletes a file, and a tree only when told to", () =>
    inSession(async ({ client, sessionId, directory }) => {
      await client.writeFsFile({ path: "gone/a", sessionId }, "x");
      const refused = client.deleteFsEntry({ path: "gone", sessionId });
      await fails(refused, { kind: "directory_not_empty", status: 409 });
      const deleted = await client.deleteFsEntry({ path: "gone/a", sessionId });
      equal(deleted, { path: `${directory}/gone/a` });
      await client.writeFsFile({ path: "gone/b", sessionId }, "x");
      await client.deleteFsEntry({ path: "gone", recursive: true, sessionId });
      await fails(client.statFs({ path: "gone", sessionId }), { kind: "not_found" });
    }));

  it("uploads an archive into a directory of a session", () =>
    inSession(async ({ client, sessionId, directory }) => {
      const archive = tar([{ name: "src/" }, { name: "src/main.js", content: "1" }]);
      const uploaded = await client.uploadFsBatch(archive, { path: "skills", sessionId });
      const paths = ["src", "src/main.js"].map((name) => `${directory}/skills/${name}`);
      equal(uploaded, { paths, truncated: false });
      const many = tar(Array.from({ length: 1030 }, (_, n) => ({ name: `f${n}`, content: "x" })));
      const cut = await client.uploadFsBatch(many, { path: "many", sessionId });
      equal([cut.paths.length, cut.truncated], [1024, true]);
    }));

  it("takes a session under either name, and sends one of them", async () => {
    const line = badLine();
    await inSession(
      async ({ client, sessionId }) => {
        const names = [{ sessionId }, { session_id: sessionId }];
        names.push({ sessionId, session_id: sessionId });
        for (const [index, name] of names.entries()) {
          const path = `file-${index}`;
          await client.writeFsFile({ path, ...name }, "x");
          equal(text(await client.readFsFile({ path, ...name })), "x");
          await client.uploadFsBatch(tar([{ name: "a" }]), { path: `dir-${index}`, ...name });
          equal((await client.statFs({ path, ...name })).size, 1);
          await client.moveFs({ from: path, to: `${path}-moved` }, name);
          await client.deleteFsEntry({ path: `${path}-moved`, ...name });
        }
        const sent = line.asked.filter(({ pathname }) => pathname.includes("/v2/fs"));
        equal(sent.length, 9);
        for (const { searchParams } of sent) {
          equal([...searchParams.keys()].sort(), ["path", "sessionId"]);
        }
      },
      { fetch: line.fetch },
    );
  });

  it("refuses two names that differ before anything is sent", async () => {
    const line = badLine();
    await inSession(
      async ({ client }) => {
        const before = line.asked.length;
        const query = { path: "a", sessionId: "one", session_id: "two" };
        await fails(client.statFs(query), { kind: "invalid_argument" });
        await fails(client.readFsFile(query), { kind: "invalid_argument" });
        await fails(client.writeFsFile(query, "x"), { kind: "invalid_argument" });
        equal(line.asked.length, before);
      },
      { fetch: line.fetch },
    );
  });

  it("is told of what is missing in words, a kind and a hint, and goes on", () =>
    inSession(async ({ client, sessionId, directory }) => {
      const query = { path: "nowhere", sessionId };
      for (const call of [
        () => client.statFs(query),
        () => client.listFsEntries(query),
        () => client.deleteFsEntry(query),
        () => client.moveFs({ from: "nowhere", to: "x" }, { sessionId }),
        () => client.readFsFile(query),
      ]) {
        const facts = { name: "SandkeepError", kind: "not_found", status: 400 };
        const error = await fails(call, facts);
        const detail = `invalid request: path not found: ${directory}/nowhere`;
        equal([error.message, error.problem.detail], [detail, detail]);
        ok(error.hint && error.requestId && error.operation, "all that is known of a failure");
      }
      await client.writeFsFile({ path: "nowhere", sessionId }, "x");
      equal((await client.statFs(query)).size, 1);
    }));

  it("may not climb, nor use a session that is not there", () =>
    inSession(async ({ client, sessionId }) => {
      const climbs = { path: "a/../../b", sessionId };
      await fails(client.statFs(climbs), { kind: "invalid_path" });
      await fails(client.readFsFile(climbs), { kind: "invalid_path" });
      const unknown = { path: "a", sessionId: "nobody-opened-this" };
      await fails(client.statFs(unknown), { status: 404 });
      await fails(client.writeFsFile(unknown, "x"), { status: 404 });
    }));

  it("sends what is small by JSON-RPC and bytes by HTTP", async () => {
    const line = badLine();
    await inSession(
      async ({ client, sessionId }) => {
        await client.writeFsFile({ path: "a", sessionId }, "x");
        await client.readFsFile({ path: "a", sessionId });
        await client.uploadFsBatch(tar([{ name: "b" }]), { sessionId });
        const calls = line.asked.map(({ rpc }) => rpc.method).filter((method) => method);
        equal(calls, ["initialize", "session/new"]);
        await client.listFsEntries({ sessionId });
        equal(line.asked.filter(isCall("_sandboxagent/fs/list_entries")).length, 1);
      },
      { fetch: line.fetch },
    );
  });
}
