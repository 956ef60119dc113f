// Sessions, prompts, and what agents ask of their client, with the mock that the server brings.

import { badLine, cutAfter, isCall, isStream, silence, silentBody } from "../harness/agent_line.js";
import { agents } from "../harness/agents.js";
import { equal, fails, ok, until } from "../harness/expect.js";

export default function ({ it, ...tools }) {
  const withClient = agents(tools);

  /** All that the agent said, and what it asked. */
  function listener() {
    const updates = [];
    const onSessionUpdate = ({ sessionId, update }) => updates.push({ sessionId, ...update });
    const said = () => updates.map(({ content }) => content?.text ?? "").join("");
    return { updates, onSessionUpdate, said };
  }

  const unused = () => tools.unique("session");

  it("opens a session under a name and in a directory, and finds it again", () =>
    withClient({}, async (client, directory) => {
      const requestedSessionId = unused();
      const opened = await client.newSession({
        cwd: directory,
        metadata: { agent: "mock", requestedSessionId, title: "the first" },
      });
      equal(opened.sessionId, requestedSessionId);
      equal(opened.session_id, requestedSessionId);
      const info = await client.getSession(requestedSessionId);
      equal(
        [info.sessionId, info.session_id, info.directory, info.agent, info.ended, info.title],
        [requestedSessionId, requestedSessionId, directory, "mock", false, "the first"],
      );
      const { sessions } = await client.listSessions();
      ok(sessions.some(({ session_id }) => session_id === requestedSessionId));
    }));

  it("loads a session, and one that nobody opened becomes one", () =>
    withClient({}, async (client, directory) => {
      const sessionId = unused();
      await client.loadSession({ sessionId, cwd: directory });
      await client.writeFsFile({ path: "here", sessionId }, "x");
      equal((await client.statFs({ path: `${directory}/here` })).size, 1);
      await client.loadSession({ session_id: sessionId, cwd: directory });
    }));

  it("changes what is told of a session, lets it go and ends it", () =>
    withClient({}, async (client, directory) => {
      const { sessionId } = await client.newSession({ cwd: directory });
      await client.setSessionMetadata(sessionId, { title: "another" });
      equal((await client.getSession({ sessionId })).title, "another");
      await client.detachSession(sessionId);
      const ended = await client.terminateSession({ session_id: sessionId });
      equal([ended.terminated, ended.alreadyEnded], [true, false]);
      equal(ended.already_ended, false);
      equal((await client.getSession(sessionId)).ended, true);
      equal((await client.terminateSession(sessionId)).alreadyEnded, true);
    }));

  it("is told of a session that is not there, and goes on", () =>
    withClient({}, async (client) => {
      await fails(client.getSession("nobody-opened-this"), { status: 404 });
      await client.listSessions();
    }));

  it("prompts an agent, and has heard all that it said when its turn ends", () => {
    const { updates, onSessionUpdate, said } = listener();
    return withClient({ onSessionUpdate }, async (client, directory) => {
      const { sessionId } = await client.newSession({ cwd: directory });
      const turn = await client.prompt({ sessionId, prompt: "hello there" });
      equal([turn.stopReason, turn.stop_reason], ["end_turn", "end_turn"]);
      ok(said().includes("hello there"), said());
      ok(updates.every((update) => update.sessionId === sessionId));
      ok(updates.every(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk"));
    });
  });

  it("an agent reads and writes texts at its client", () => {
    const { onSessionUpdate, said } = listener();
    const [reads, writes] = [[], []];
    const handlers = {
      onSessionUpdate,
      readTextFile: async (request) => {
        reads.push(request);
        return { content: "what the editor shows" };
      },
      writeTextFile: (request) => {
        writes.push(request);
      },
    };
    return withClient(handlers, async (client, directory) => {
      const { sessionId } = await client.newSession({ cwd: directory });
      const prompt = [{ type: "text", text: "read a.txt\nwrite b.txt some text" }];
      equal((await client.prompt({ sessionId, prompt })).stopReason, "end_turn");
      equal(reads.length, 1);
      equal([reads[0].sessionId, reads[0].path], [sessionId, `${directory}/a.txt`]);
      equal(writes.length, 1);
      equal([writes[0].path, writes[0].content], [`${directory}/b.txt`, "some text"]);
      ok(said().includes("what the editor shows"), said());
    });
  });

  it("an agent is told why its client cannot", () => {
    const { onSessionUpdate, said } = listener();
    const readTextFile = () => Promise.reject(new Error("the editor is closed"));
    return withClient({ onSessionUpdate, readTextFile }, async (client, directory) => {
      const { sessionId } = await client.newSession({ cwd: directory });
      const prompt = "read a.txt\nwrite b.txt x";
      equal((await client.prompt({ sessionId, prompt })).stopReason, "end_turn");
      ok(said().includes("the editor is closed"), said());
    });
  });

  it("refuses what it has no handler for", async () => {
    const line = badLine();
    // The server is made to believe that the client can read.
    line.next(isCall("initialize"), (_, init) => {
      const body = JSON.parse(init.body);
      body.params.clientCapabilities.fs.readTextFile = true;
      return fetch(line.asked[0].url, { ...init, body: JSON.stringify(body) });
    });
    await withClient({ fetch: line.fetch }, async (client, directory) => {
      const { sessionId } = await client.newSession({ cwd: directory });
      const turn = await client.prompt({ sessionId, prompt: "read a.txt" });
      equal(turn.stopReason, "end_turn");
      const answers = line.asked.filter(({ rpc }) => rpc.id !== undefined && !rpc.method);
      equal(
        answers.map(({ rpc }) => rpc.error?.code),
        [-32601],
      );
    });
  });

  it("cancels a turn, and by a signal as well", () => {
    const { onSessionUpdate, said } = listener();
    return withClient({ onSessionUpdate }, async (client, directory) => {
      const { sessionId } = await client.newSession({ cwd: directory });
      const turn = client.prompt({ sessionId, prompt: "wait 30" });
      const cancelling = until(async () => {
        await client.cancel(sessionId);
        return Promise.race([turn.then(() => true), wait(100).then(() => false)]);
      });
      equal((await turn).stopReason, "cancelled");
      await cancelling;
      const controller = new AbortController();
      const prompt = "begun\nwait 30";
      const aborted = client.prompt({ sessionId, prompt }, { signal: controller.signal });
      // A runtime may send what cancels a turn before it sends what begins it.
      await until(() => said().includes("begun"));
      controller.abort();
      await fails(aborted, { kind: "aborted" });
      // The session would be busy otherwise.
      await until(() =>
        client.prompt({ sessionId, prompt: "hello" }).then(
          () => true,
          () => false,
        ),
      );
    });
  });

  it("whoever gives up on a turn does not wait for the agent to hear of it", async () => {
    const line = badLine();
    const isCancel = isCall("session/cancel");
    await withClient({ fetch: line.fetch }, async (client, directory) => {
      const { sessionId } = await client.newSession({ cwd: directory });
      line.next(isCall("session/prompt"), (_, init) => {
        line.next(isCancel, (_, init) => silence(init));
        return silence(init);
      });
      const controller = new AbortController();
      const turn = client.prompt({ sessionId, prompt: "hello" }, { signal: controller.signal });
      await until(() => line.asked.some(isCall("session/prompt")));
      const begun = Date.now();
      controller.abort();
      await fails(turn, { kind: "aborted" });
      ok(Date.now() - begun < 1_500, "an end at once");
      await until(() => line.asked.some(isCancel));
    });
  });

  it("what was given up before it began is not cancelled", async () => {
    const line = badLine();
    await withClient({ fetch: line.fetch }, async (client, directory) => {
      const { sessionId } = await client.newSession({ cwd: directory });
      const signal = AbortSignal.abort();
      await fails(client.prompt({ sessionId, prompt: "hello" }, { signal }), { kind: "aborted" });
      await wait(100);
      equal(line.asked.filter(isCall("session/cancel")).length, 0);
    });
  });

  it("a turn may take longer than a server may be silent", () =>
    withClient({ timeout: 2_000 }, async (client, directory) => {
      const { sessionId } = await client.newSession({ cwd: directory });
      for (const options of [undefined, { timeout: undefined }]) {
        const turn = await client.prompt({ sessionId, prompt: "wait 3" }, options);
        equal(turn.stopReason, "end_turn");
      }
    }));

  it("hears everything once and in order, however often the stream is cut", () => {
    const line = badLine();
    const [events, texts] = [[], []];
    let cuts = 0;
    // Behind the first event or a later one, and not where one ends.
    const cutting = async (send) => {
      cuts += 1;
      if (cuts < 20) line.next(isStream, cutting);
      return cutAfter(await send(), 300 + cuts * 7);
    };
    line.next(isStream, cutting);
    const listeners = {
      fetch: line.fetch,
      onEvent: (message) => events.push(message),
      onSessionUpdate: ({ update }) => texts.push(update.content?.text ?? ""),
    };
    return withClient(listeners, async (client, directory) => {
      const { sessionId } = await client.newSession({ cwd: directory });
      const said = Array.from({ length: 40 }, (_, number) => `number ${number} is said once`);
      for (const prompt of said) await client.prompt({ sessionId, prompt });
      const last = said.at(-1);
      await until(() => texts.join("").includes(last));
      const found = texts.join("").match(/number \d+ is said once/g);
      equal(found, said);
      equal(cuts, 20);
      equal(events.length, texts.length);
    });
  });

  it("a stream that gives no sign is opened anew", () => {
    const line = badLine();
    line.next(isStream, (_, init) => silentBody(init, { "content-type": "text/event-stream" }));
    const { onSessionUpdate, said } = listener();
    const options = { fetch: line.fetch, onSessionUpdate, silence: 200 };
    return withClient(options, async (client, directory) => {
      const { sessionId } = await client.newSession({ cwd: directory });
      await client.prompt({ sessionId, prompt: "after the silence" });
      await until(() => said().includes("after the silence"));
      ok(line.asked.filter(isStream).length >= 2);
    });
  });

  const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
}
