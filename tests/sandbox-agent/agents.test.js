// Agents, as the published client talks with them: sessions, prompts and their events, and files
// beside them.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { AcpHttpClient } from "acp-http-client";
import { InMemorySessionPersistDriver, SandboxAgent } from "sandbox-agent";
import { tar } from "./tar.js";
import { openConnected, ways } from "./ways.js";

const text = (text) => [{ type: "text", text }];

/** What the agent said in these events, in words. */
const words = (events) =>
  events
    .filter(({ payload }) => payload.method === "session/update")
    .map(({ payload }) => payload.params.update.content.text)
    .join("");

/** Waits until something is so: events come on a line of their own. */
async function until(isSo, what) {
  for (let tries = 0; tries < 500; tries++) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail(`not in time: ${what()}`);
}

const heard = (events, expected) =>
  until(() => words(events) === expected, () => JSON.stringify(words(events)));

/** Why a session cannot be created. The client rejects what nobody handles: it gets a process of its own. */
async function refusal(baseUrl, headers, agent) {
  const program = `
    import { SandboxAgent } from "sandbox-agent";
    const { baseUrl, headers, agent } = JSON.parse(process.env.ASKED);
    const tell = ({ problem }) => process.stdout.write(JSON.stringify(problem), () => process.exit(0));
    process.on("unhandledRejection", tell);
    const sdk = await SandboxAgent.connect({ baseUrl, headers });
    await sdk.createSession({ agent, cwd: "/" }).then(() => process.exit(1), tell);
  `;
  const env = { ...process.env, ASKED: JSON.stringify({ baseUrl, headers, agent }) };
  const options = { env, cwd: import.meta.dirname, timeout: 30_000 };
  const args = ["--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  return JSON.parse(stdout);
}

for (const way of ways) {
  describe(`agents of the client ${way.name}`, () => {
    let sdk, root, close;
    before(async () => ({ sdk, root, close } = await way.open()));
    after(() => close());

    it("creates a session, prompts it and hears what is said", async () => {
      const session = await sdk.createSession({ agent: "mock", cwd: root });
      assert.equal(session.agentSessionId, "mock-session-1");
      const events = [];
      session.onEvent((event) => events.push(event));
      const answer = await session.prompt(text("hello there"));
      assert.deepEqual(answer, { stopReason: "end_turn" });
      await heard(events, "mock: hello there");
      assert.ok(events.length > 3, "it is said in pieces");
    });

    it("keeps the events of a session in their order, each once", async () => {
      const session = await sdk.createSession({ agent: "mock", cwd: root });
      for (const word of ["one", "two", "three"]) await session.prompt(text(word));
      const kept = async () => (await sdk.getEvents({ sessionId: session.id, limit: 100 })).items;
      const said = "mock: onemock: twomock: three";
      await until(async () => words(await kept()) === said, () => "events are missing");
      const events = await kept();
      assert.deepEqual(events.map((event) => event.eventIndex), events.map((_, index) => index + 1));
      const answers = events.filter(({ payload }) => payload.result?.stopReason === "end_turn");
      assert.equal(answers.length, 3);
    });

    it("has two sessions at once", async () => {
      const [slow, quick] = await Promise.all([
        sdk.createSession({ agent: "mock", cwd: root }),
        sdk.createSession({ agent: "mock", cwd: root }),
      ]);
      assert.notEqual(slow.agentSessionId, quick.agentSessionId);
      const ends = [];
      const end = (name) => () => ends.push(name);
      await Promise.all([
        slow.prompt(text("wait 0.5\nslow")).then(end("slow")),
        quick.prompt(text("quick")).then(end("quick")),
      ]);
      assert.deepEqual(ends, ["quick", "slow"]);
    });

    it("cancels a turn when its session is destroyed", async () => {
      const session = await sdk.createSession({ agent: "mock", cwd: root });
      const events = [];
      session.onEvent((event) => events.push(event));
      const turn = session.prompt(text("begun\nwait 60\nnever said"));
      await heard(events, "mock: begun");
      const destroyed = await sdk.destroySession(session.id);
      assert.ok(destroyed.destroyedAt > 0);
      assert.deepEqual(await turn, { stopReason: "cancelled" });
    });

    it("refuses what the agent cannot do, and goes on", async () => {
      const session = await sdk.createSession({ agent: "mock", cwd: root });
      await assert.rejects(session.rawSend("_nobody/knows", {}), { code: -32601 });
      await assert.rejects(session.prompt([{ type: "image", data: "", mimeType: "image/png" }]), {
        code: -32602,
      });
      assert.equal((await session.prompt(text("still there"))).stopReason, "end_turn");
    });

    it("has all file methods beside its sessions", async () => {
      const session = await sdk.createSession({ agent: "mock", cwd: root });
      const turn = session.prompt(text("wait 1"));
      const path = `${root}/beside/a.txt`;
      assert.deepEqual(await sdk.mkdirFs({ path: "beside" }), { path: `${root}/beside` });
      assert.deepEqual(await sdk.writeFsFile({ path }, "hello"), { path, bytesWritten: 5 });
      assert.equal(Buffer.from(await sdk.readFsFile({ path })).toString(), "hello");
      assert.equal((await sdk.statFs({ path })).size, 5);
      assert.deepEqual((await sdk.listFsEntries({ path: "beside" })).map(({ name }) => name), ["a.txt"]);
      await sdk.moveFs({ from: path, to: `${root}/beside/b.txt` });
      const archive = tar([{ name: "c.txt", content: "1" }]);
      const uploaded = await sdk.uploadFsBatch(archive, { path: "beside" });
      assert.deepEqual(uploaded.paths, [`${root}/beside/c.txt`]);
      await sdk.deleteFsEntry({ path: "beside", recursive: true });
      await assert.rejects(sdk.statFs({ path: "beside" }), { status: 400 });
      assert.equal((await turn).stopReason, "end_turn");
    });
  });
}

describe("agents behind a line that breaks", () => {
  let sdk, close;
  const opened = [];

  /** A fetch whose event streams end after so many bytes, in the middle of whatever they say. */
  async function cutting(url, init) {
    const answer = await fetch(url, init);
    if (init?.method !== "GET" || !String(url).includes("/v1/acp/") || !answer.ok) return answer;
    opened.push(new Headers(init.headers).get("last-event-id"));
    let left = 600;
    const cut = new TransformStream({
      transform(piece, controller) {
        controller.enqueue(piece.subarray(0, left));
        left -= piece.length;
        if (left <= 0) controller.terminate();
      },
    });
    return new Response(answer.body.pipeThrough(cut), answer);
  }

  before(async () => ({ sdk, close } = await openConnected({ fetch: cutting })));
  after(() => close());

  it("loses and repeats nothing", async () => {
    const session = await sdk.createSession({ agent: "mock", cwd: "/" });
    const events = [];
    session.onEvent((event) => events.push(event));
    let expected = "";
    for (let turn = 1; turn <= 5; turn++) {
      await session.prompt(text(`turn ${turn} of five`));
      expected += `mock: turn ${turn} of five`;
    }
    await heard(events, expected);
    assert.ok(opened.filter((last) => last !== null).length > 5, JSON.stringify(opened));
  });
});

describe("agents and who may have them", () => {
  let sdk, root, close, url, headers;
  before(async () => {
    let seen;
    const noting = (target, init) => {
      seen = { url: new URL(target).origin, headers: new Headers(init.headers) };
      return fetch(target, init);
    };
    ({ sdk, root, close } = await openConnected({ fetch: noting }));
    await sdk.getHealth();
    url = seen.url;
    headers = { authorization: seen.headers.get("authorization") };
  });
  after(() => close());

  const servers = async () => (await (await fetch(`${url}/v1/acp`, { headers })).json()).servers;

  it("ends its agents when it is disposed of", async () => {
    const other = await SandboxAgent.connect({ baseUrl: url, headers });
    await other.createSession({ agent: "mock", cwd: root });
    const [server] = await servers();
    assert.match(server.serverId, /^sdk-mock-/);
    assert.equal(server.agent, "mock");
    await other.dispose();
    assert.deepEqual(await servers(), []);
  });

  it("takes a session up again with a new connection", async () => {
    const persist = new InMemorySessionPersistDriver();
    const first = await SandboxAgent.connect({ baseUrl: url, headers, persist });
    const session = await first.createSession({ id: "mine", agent: "mock", cwd: root });
    await session.prompt(text("before"));
    await first.dispose();
    const second = await SandboxAgent.connect({ baseUrl: url, headers, persist });
    const resumed = await second.resumeSession("mine");
    assert.equal((await resumed.prompt(text("after"))).stopReason, "end_turn");
    await second.dispose();
  });

  for (const [agent, status] of [["nobody", 400], ["claude", 404]]) {
    it(`is told that there is no agent ${agent}`, async () => {
      const told = await refusal(url, headers, agent);
      assert.deepEqual([told.status, told.agent], [status, agent]);
      assert.match(told.hint, /mock/);
    });
  }

  it("lends its files to the agent when it says that it can", async () => {
    const files = new Map([["/project/a.txt", "hello"]]);
    const said = [];
    const client = new AcpHttpClient({
      baseUrl: url,
      headers,
      transport: { path: "/v1/acp/files", bootstrapQuery: { agent: "mock" } },
      client: {
        sessionUpdate: async (update) => said.push(update.update.content.text),
        readTextFile: async ({ path }) => {
          if (!files.has(path)) throw new Error(`no file ${path}`);
          return { content: files.get(path) };
        },
        writeTextFile: async ({ path, content }) => {
          files.set(path, content);
          return {};
        },
      },
    });
    const clientCapabilities = { fs: { readTextFile: true, writeTextFile: true } };
    const greeted = await client.initialize({ clientCapabilities });
    assert.equal(greeted.agentInfo.name, "mock");
    const { sessionId } = await client.newSession({ cwd: "/project", mcpServers: [] });
    const prompt = text("read a.txt\nwrite b.txt from the mock\nread b.txt\nread missing");
    const answer = await client.prompt({ sessionId, prompt });
    assert.equal(answer.stopReason, "end_turn");
    assert.equal(files.get("/project/b.txt"), "from the mock");
    await until(() => said.join("").includes("missing cannot be read"), () => said.join(""));
    assert.match(said.join(""), /a\.txt has 5 bytes: hello.*b\.txt has 13 bytes: from the mock/s);
    await client.disconnect();
    assert.deepEqual(await servers(), []);
  });
});
