// Requests whose path goes over the wire as it is written.

import { once } from "node:events";
import * as http from "node:http";
import * as https from "node:https";

/** Begins a request; `end` or `write` to it. */
export function begin(to, path, { method = "GET", key = to.key, headers = {} } = {}) {
  const { protocol, hostname, port } = new URL(to.url);
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const { request } = protocol === "https:" ? https : http;
  const options = { hostname, port, path, method, ca: to.certificate, agent: false };
  return request({ ...options, headers: { ...authorization, ...headers } });
}

/** The answer to a request that was begun, with its body unread. */
export async function answer(request) {
  const [response] = await once(request, "response");
  return response;
}

/** Asks and reads the whole answer. */
export async function ask(to, path, { body, ...options } = {}) {
  const request = begin(to, path, options);
  request.end(body);
  return whole(await answer(request));
}

export async function whole(response) {
  const pieces = [];
  for await (const piece of response) pieces.push(piece);
  const { statusCode: status, headers } = response;
  return { status, headers, body: Buffer.concat(pieces) };
}

/** Sends as much as the other side takes, and waits when it takes no more. */
export async function send(request, piece) {
  if (!request.write(piece)) await once(request, "drain");
}
