// Clients of both eras, on both transports, before one tree each.
//
// The one of 1.x speaks the protocol with `initialize` and sessions; the other one is held to
// 2026-07-28, in which every request stands alone.

import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { Client as Modern } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { Client as Greeted } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as GreetedStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as GreetedHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

import { binary, emptyDirectory, serve } from "../program.mjs";

const run = promisify(execFile);
const NAME = { name: "sandkeep-test", version: "1.0.0" };
const ERAS = {
  "1.x": { Client: Greeted, Stdio: GreetedStdio, Http: GreetedHttp, options: {} },
  "2026-07-28": {
    Client: Modern,
    Stdio: ModernStdio,
    Http: ModernHttp,
    options: { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  },
};

/** Every way in which the program is spoken to: `{ name, era, transport }`. */
export const ways = Object.keys(ERAS).flatMap((era) =>
  ["stdio", "HTTP"].map((transport) => ({ name: `${era} on ${transport}`, era, transport })),
);

/**
 * A client in front of a virtual sandbox, which has every tool. `flags` are for `sandkeep mcp`, or for
 * `sandkeep serve` as `serverFlags`; `role` is that of the client's key over HTTP.
 */
export async function open(way, { flags = [], serverFlags = [], role = "developer", client } = {}) {
  const place = await emptyDirectory();
  const forget = () => rm(place, { recursive: true });
  if (way.transport === "stdio") {
    const store = `file:${join(place, "store")}`;
    await run(binary, ["sandbox", "create", "main", "--store", store]);
    const opened = await stdio(way.era, ["--store", store, ...flags], client);
    return { ...opened, close: () => opened.close().then(forget) };
  }
  const server = await serve("--store", "memory:", ...serverFlags);
  const opened = await http(way.era, server, await keyOf(server, { role }), client);
  const close = async () => {
    await opened.close();
    await server.stop();
    await forget();
  };
  return { ...opened, server, close };
}

/** A client in front of `sandkeep mcp` with these arguments. */
export async function stdio(era, args, wishes, command = [binary, "mcp"]) {
  const [program, ...first] = command;
  const { Stdio } = ERAS[era];
  const env = { ...process.env, SANDKEEP_LOG: "error" };
  const transport = new Stdio({ command: program, args: [...first, ...args], env, stderr: "pipe" });
  let said = "";
  transport.stderr?.on("data", (piece) => (said += piece));
  const client = await connected(era, transport, wishes);
  return { client, transport, said: () => said, close: () => client.close() };
}

/** A client in front of a server, with a key. */
export async function http(era, server, key, wishes, query = "") {
  const { Http } = ERAS[era];
  const headers = { authorization: `Bearer ${key}` };
  const transport = new Http(new URL(`/mcp${query}`, server.baseUrl), { requestInit: { headers } });
  const client = await connected(era, transport, wishes);
  const close = async () => {
    await transport.terminateSession?.();
    await client.close();
  };
  return { client, transport, close };
}

async function connected(era, transport, { capabilities = {}, prepare = () => {} } = {}) {
  const { Client, options } = ERAS[era];
  const client = new Client(NAME, { ...options, capabilities });
  prepare(client);
  await client.connect(transport);
  return client;
}

/** A new key of a server. */
export async function keyOf({ baseUrl, token }, wish) {
  const answer = await fetch(new URL("/v1/keys", baseUrl), {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(wish),
  });
  return (await answer.json()).key;
}

/** Calls back with the address of each resource that changes, in either era. */
export function onUpdated(client, tell) {
  const method = client instanceof Modern ? "notifications/resources/updated" : ResourceUpdatedNotificationSchema;
  client.setNotificationHandler(method, (note) => tell(note.params.uri));
}

/** Calls back when the list of resources is another. */
export function onListChanged(client, tell) {
  const method =
    client instanceof Modern ? "notifications/resources/list_changed" : ResourceListChangedNotificationSchema;
  client.setNotificationHandler(method, () => tell());
}

/** Subscribes to a resource; what it gives ends that. */
export async function subscribe(client, uri) {
  if (client instanceof Modern) {
    const listening = await client.listen({ resourceSubscriptions: [uri], resourcesListChanged: true });
    return () => listening.close();
  }
  await client.subscribeResource({ uri });
  return () => client.unsubscribeResource({ uri });
}

/** What a tool gives; it must succeed. */
export async function done(client, name, args = {}, options) {
  const result = await client.callTool({ name, arguments: args }, ...rest(client, options));
  if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
  return result.structuredContent.data;
}

/** What a tool says that fails. */
export async function failed(client, name, args = {}) {
  const result = await client.callTool({ name, arguments: args });
  if (!result.isError) throw new Error(`${name} did not fail: ${JSON.stringify(result)}`);
  return result;
}

/** The client of 1.x takes a schema before the options. */
export function rest(client, options) {
  if (options === undefined) return [];
  return client instanceof Modern ? [options] : [undefined, options];
}

/** Waits until something holds. */
export async function soon(holds, what) {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${what} did not happen in time`);
}
