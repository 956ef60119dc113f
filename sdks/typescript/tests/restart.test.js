// Clients for agents whose server restarts: each finds its own way back, and none into another's connection.

import { strict as assert } from "node:assert";
import { createServer } from "node:net";
import { it } from "node:test";
import { serveAt } from "../../../tests/program.mjs";
import { SandboxAgentClient } from "../dist/esm/index.js";
import { until } from "./harness/expect.js";

it("clients of a server that restarts do not get into each other's way", async () => {
  const port = await freePort();
  const token = "the-same-before-and-after";
  let server = await serveAt(port, token, "--store", "memory:");
  const clients = Array.from({ length: 4 }, (_, number) => clientOf(server.baseUrl, token, number));
  try {
    for (const client of clients) await talk(client, "before");
    await server.kill();
    server = await serveAt(port, token, "--store", "memory:");
    // The last one comes back first, and is given the number that the first one had.
    for (const client of clients.toReversed()) await client.agent.listFsEntries();
    for (const client of clients) await talk(client, "after");
    await until(() => clients.every(({ agent }) => agent.connected));
    const ids = clients.map(({ agent }) => agent.clientId);
    assert.equal(new Set(ids).size, 4, `${ids}`);
    for (const { heard, number } of clients) {
      assert.match(heard.join(""), new RegExp(`before ${number}.*after ${number}`, "s"));
      assert.doesNotMatch(heard.join(""), new RegExp(`(before|after) [^${number}]`));
    }
  } finally {
    for (const { agent } of clients) await agent.dispose();
    await server.stop();
  }
});

function clientOf(baseUrl, token, number) {
  const heard = [];
  const onSessionUpdate = ({ update }) => heard.push(update.content?.text ?? "");
  const agent = new SandboxAgentClient({ baseUrl, token, agent: "mock", onSessionUpdate });
  return { agent, heard, number };
}

async function talk({ agent, number }, word) {
  const { sessionId } = await agent.newSession({ cwd: "/" });
  const turn = await agent.prompt({ sessionId, prompt: `${word} ${number}` });
  assert.equal(turn.stopReason, "end_turn");
}

async function freePort() {
  const listener = createServer();
  await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  return port;
}
