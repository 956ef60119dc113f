// How the client connects, and that nothing which goes wrong leaves a call waiting or the client useless.

import { badLine, isCall, isStream, silence, silentBody } from "../harness/agent_line.js";
import { agents } from "../harness/agents.js";
import { equal, fails, ok, until } from "../harness/expect.js";

export default function ({ it, ...tools }) {
  const withClient = agents(tools);
  const json = (value, status = 200) =>
    new Response(JSON.stringify(value), {
      status,
      headers: { "content-type": "application/json" },
    });
  const STAT = "_sandboxagent/fs/stat";

  it("connects by itself, and says under which name", () =>
    withClient({}, async (client) => {
      equal(client.connected, false);
      await client.listFsEntries();
      equal(client.connected, true);
      ok(/^acp_conn_\d+$/.test(client.clientId), client.clientId);
    }));

  it("connects once, however many calls wait for it", async () => {
    const line = badLine();
    await withClient({ fetch: line.fetch }, async (client) => {
      await Promise.all([client.listFsEntries(), client.statFs({ path: "." }), client.connect()]);
      equal(line.asked.filter(isCall("initialize")).length, 1);
    });
  });

  it("does not connect by itself when it is told not to", async () => {
    const line = badLine();
    await withClient({ autoConnect: false, fetch: line.fetch }, async (client) => {
      await fails(client.listFsEntries(), { kind: "not_connected" });
      equal(line.asked.length, 0);
      await client.connect();
      equal(client.connected, true);
      await client.listFsEntries();
    });
  });

  it("needs an agent, and takes one later", () =>
    withClient({ agent: undefined, autoConnect: false }, async (client) => {
      await fails(client.connect(), { kind: "invalid_argument" });
      await client.connect({ agent: "mock" });
      await client.listFsEntries();
    }));

  it("is told of an agent that nobody knows", () =>
    withClient({ agent: "nobody" }, async (client) => {
      const error = await fails(client.listFsEntries(), { status: 400 });
      ok(error.message.includes("nobody"), error.message);
    }));

  it("is told of a wrong token at every call, and waits for nothing", () =>
    withClient({ token: "wrong" }, async (client) => {
      for (const call of [
        () => client.listFsEntries(),
        () => client.statFs({ path: "a" }),
        () => client.readFsFile({ path: "a" }),
        () => client.writeFsFile({ path: "a" }, "x"),
        () => client.newSession({ cwd: "/" }),
      ]) {
        await fails(call(), { status: 401 });
      }
    }));

  for (const [what, instead, facts] of [
    ["a status without words", () => new Response("", { status: 500 }), { status: 500 }],
    [
      "a page of a proxy",
      () => new Response("<h1>Bad Gateway</h1>", { status: 418 }),
      { status: 418 },
    ],
    [
      "a refusal",
      () => json({ title: "No", detail: "not today", status: 403 }, 403),
      { message: "not today" },
    ],
    ["something that is not JSON", () => new Response("hello"), { kind: "not_understood" }],
    [
      "an answer to another call",
      () => json({ jsonrpc: "2.0", id: "?", result: {} }),
      { kind: "not_understood" },
    ],
    [
      "an answer without a result",
      () => json({ jsonrpc: "2.0", id: 2 }),
      { kind: "not_understood" },
    ],
    ["a list", () => json([]), { kind: "not_understood" }],
    ["nothing at all", () => new Response(null, { status: 202 }), { kind: "not_understood" }],
    ["a broken line", () => Promise.reject(new TypeError("fetch failed")), { kind: "connection" }],
  ]) {
    it(`a call that is answered with ${what} fails, and the next one works`, async () => {
      const line = badLine();
      const move = "_sandboxagent/fs/move";
      await withClient({ fetch: line.fetch }, async (client, directory) => {
        const [from, to] = [`${directory}/from`, `${directory}/to`];
        await client.writeFsFile({ path: from }, "x");
        line.next(isCall(move), instead);
        await fails(client.moveFs({ from, to }), facts);
        await client.moveFs({ from, to });
        equal((await client.statFs({ path: to })).size, 1);
        equal(line.asked.filter(isCall(move)).length, 2);
      });
    });
  }

  it("a look is tried again when the line broke, a change is not", async () => {
    const line = badLine();
    const broken = () => Promise.reject(new TypeError("fetch failed"));
    await withClient({ fetch: line.fetch }, async (client, directory) => {
      line.next(isCall(STAT), broken);
      equal((await client.statFs({ path: directory })).entryType, "directory");
      equal(line.asked.filter(isCall(STAT)).length, 2);
      line.next(isCall("_sandboxagent/fs/delete_entry"), broken);
      const path = `${directory}/nothing`;
      await fails(client.deleteFsEntry({ path }), { kind: "connection" });
      equal(line.asked.filter(isCall("_sandboxagent/fs/delete_entry")).length, 1);
    });
  });

  it("a failed handshake is told to the calls that wait, and the next call tries again", async () => {
    const line = badLine();
    line.next(isCall("initialize"), () => new Response("", { status: 500 }));
    await withClient({ fetch: line.fetch }, async (client) => {
      await fails(client.listFsEntries(), { status: 500 });
      await client.listFsEntries();
      equal(client.connected, true);
    });
  });

  it("a call ends with its signal", async () => {
    const line = badLine();
    await withClient({ fetch: line.fetch }, async (client) => {
      await client.connect();
      line.next(isCall(STAT), (_, init) => silence(init));
      const signal = AbortSignal.timeout(50);
      await fails(client.statFs({ path: "." }, { signal }), { kind: "aborted" });
      const path = "never-written";
      const aborted = { signal: AbortSignal.abort() };
      await fails(client.writeFsFile({ path }, "x", aborted), { kind: "aborted" });
      await client.statFs({ path: "." });
    });
  });

  it("a call ends with its signal while the client connects, and others go on", async () => {
    const line = badLine();
    let go;
    const gate = new Promise((resolve) => (go = resolve));
    line.next(isCall("initialize"), async (send) => gate.then(send));
    await withClient({ fetch: line.fetch }, async (client) => {
      const other = client.listFsEntries();
      const signal = AbortSignal.timeout(50);
      await fails(client.statFs({ path: "." }, { signal }), { kind: "aborted" });
      go();
      await other;
    });
  });

  it("a transfer ends with its signal while its bytes arrive", async () => {
    const line = badLine();
    await withClient({ fetch: line.fetch }, async (client, directory) => {
      const path = `${directory}/file`;
      await client.writeFsFile({ path }, "x".repeat(1000));
      const fits = ({ method, pathname }) => method === "GET" && pathname.endsWith("/v2/fs/file");
      line.next(fits, async (send, init) => {
        await (await send()).arrayBuffer();
        return silentBody(init);
      });
      const signal = AbortSignal.timeout(50);
      await fails(client.readFsFile({ path }, { signal }), { kind: "aborted" });
    });
  });

  it("a server that is silent for too long is not waited for", async () => {
    const line = badLine();
    await withClient({ fetch: line.fetch }, async (client) => {
      await client.connect();
      line.next(isCall("session/new"), (_, init) => silence(init));
      await fails(client.newSession({}, { timeout: 50 }), { kind: "timeout" });
      await client.listFsEntries();
    });
  });

  it("calls fail after a disconnect, and work when it connects again", () =>
    withClient({}, async (client) => {
      await client.connect();
      const first = client.clientId;
      await client.disconnect();
      equal([client.connected, client.clientId], [false, undefined]);
      await fails(client.listFsEntries(), { kind: "not_connected" });
      await client.connect();
      ok(client.clientId !== first, first);
      await client.listFsEntries();
    }));

  it("a disconnect while it connects is a disconnect", async () => {
    const line = badLine();
    line.next(isCall("initialize"), (_, init) => silence(init));
    await withClient({ fetch: line.fetch }, async (client) => {
      const waiting = client.listFsEntries();
      const rejected = fails(waiting, { kind: "not_connected" });
      await client.disconnect();
      await rejected;
      equal(client.connected, false);
    });
  });

  it("everything that is under way fails when the client is disposed of", async () => {
    const line = badLine();
    await withClient({ fetch: line.fetch }, async (client) => {
      await client.connect();
      line.next(isCall("session/new"), (_, init) => silence(init));
      const call = fails(client.newSession({}), { kind: "not_connected" });
      await until(() => line.asked.some(isCall("session/new")));
      line.next(
        ({ pathname }) => pathname.endsWith("/v2/fs/file"),
        (_, init) => silence(init),
      );
      const transfer = fails(client.readFsFile({ path: "a" }), { kind: "aborted" });
      await client.dispose();
      await Promise.all([call, transfer]);
      await fails(client.listFsEntries(), { kind: "aborted" });
      await fails(client.readFsFile({ path: "a" }), { kind: "aborted" });
      await fails(client.connect(), { kind: "aborted" });
      await client.dispose();
    });
  });

  it("connects again when the server has forgotten the connection", async () => {
    const line = badLine();
    await withClient({ fetch: line.fetch }, async (client) => {
      await client.connect();
      const first = client.clientId;
      await forget(first);
      await client.listFsEntries();
      ok(client.clientId !== first);
      equal(line.asked.filter(isCall("initialize")).length, 2);
    });
  });

  it("connects again once, and fails none of the calls that met the lost connection", async () => {
    const line = badLine();
    await withClient({ fetch: line.fetch }, async (client, directory) => {
      await client.connect();
      await forget(client.clientId);
      const paths = Array.from({ length: 20 }, (_, number) => `${directory}/made-${number}`);
      await Promise.all(paths.map((path) => client.mkdirFs({ path })));
      const entries = await client.listFsEntries({ path: directory });
      equal(entries.length, 20);
      equal(line.asked.filter(isCall("initialize")).length, 2);
    });
  });

  it("whoever waits for an agent is told when the connection is lost", async () => {
    const line = badLine();
    await withClient({ fetch: line.fetch }, async (client, directory) => {
      const { sessionId } = await client.newSession({ cwd: directory });
      line.next(isCall("session/prompt"), (_, init) => silence(init));
      const turn = fails(client.prompt({ sessionId, prompt: "hello" }), { kind: "connection" });
      await until(() => line.asked.some(isStream));
      await forget(client.clientId);
      await turn;
      equal((await client.prompt({ sessionId, prompt: "hello" })).stopReason, "end_turn");
    });
  });

  it("says so instead when it is not to connect by itself", () =>
    withClient({ autoConnect: false }, async (client) => {
      await client.connect();
      await forget(client.clientId);
      await fails(client.listFsEntries(), { kind: "not_connected" });
      equal(client.connected, false);
      await client.connect();
      await client.listFsEntries();
    }));

  it("somebody who listens is connected again without a call", async () => {
    const line = badLine();
    const options = { fetch: line.fetch, onEvent: () => {} };
    await withClient(options, async (client) => {
      await client.connect();
      const first = client.clientId;
      await until(() => line.asked.some(isStream));
      await forget(first);
      await until(() => client.clientId !== undefined && client.clientId !== first);
      await client.listFsEntries();
    });
  });

  it("a server that forgets it again and again is asked less and less", async () => {
    const line = badLine();
    const problem = { type: "urn:sandbox-agent:error:client_not_found", status: 404 };
    const forgotten = () => {
      line.next(isStream, forgotten);
      return json(problem, 404);
    };
    line.next(isStream, forgotten);
    const begun = () => line.asked.filter(isCall("initialize")).length;
    await withClient({ fetch: line.fetch, onEvent: () => {} }, async (client) => {
      await wait(1_200);
      ok(begun() >= 2 && begun() <= 6, `${begun()} connections`);
      await client.disconnect();
      const before = begun();
      await wait(1_500);
      equal(begun(), before);
    });
  });

  it("comes back without a call, also when the server is not ready at once", async () => {
    const line = badLine();
    await withClient({ fetch: line.fetch, onEvent: () => {} }, async (client) => {
      await client.connect();
      const first = client.clientId;
      await until(() => line.asked.some(isStream));
      let failures = 0;
      const failing = () => {
        failures += 1;
        if (failures < 3) line.next(isCall("initialize"), failing);
        return new Response("", { status: 500 });
      };
      line.next(isCall("initialize"), failing);
      await forget(first);
      await until(() => client.clientId !== undefined && client.clientId !== first);
      equal(failures, 3);
    });
  });

  it("opens no stream while nobody listens", async () => {
    const line = badLine();
    await withClient({ fetch: line.fetch }, async (client, directory) => {
      await client.newSession({ cwd: directory });
      await client.listFsEntries();
      equal(line.asked.filter(isStream).length, 0);
    });
  });

  it("says goodbye, and is gone also when nobody hears it", async () => {
    const line = badLine();
    await withClient({ fetch: line.fetch }, async (client) => {
      await client.connect();
      const isFarewell = ({ method }) => method === "DELETE";
      line.next(isFarewell, () => Promise.reject(new TypeError("fetch failed")));
      await client.disconnect();
      ok(line.asked.some(isFarewell));
      equal(client.connected, false);
    });
  });

  function wait(milliseconds) {
    return new Promise((resolve) => setTimeout(resolve, milliseconds));
  }

  function forget(id) {
    const { baseUrl, token } = tools;
    const headers = { authorization: `Bearer ${token}`, "x-acp-connection-id": id };
    return fetch(new URL("/v2/rpc", baseUrl), { method: "DELETE", headers });
  }
}
