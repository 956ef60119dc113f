/** Which server and which sandbox tools work on. */

import { SandkeepError } from "../errors.js";
import { Sandbox } from "../sandboxes/sandbox.js";
import { Sandkeep, type SandkeepOptions } from "../sandkeep.js";
import type { Transport } from "../transport/transport.js";

/** Which server, who asks, and which sandbox is worked on. */
export interface ConnectionOptions extends SandkeepOptions {
  /** The id of the sandbox; the one that the server was started with, or that the key is for, without it. */
  sandbox?: string | undefined;
}

/**
 * What tools work on: a sandbox, the sandbox that a client works on by itself, or what is needed to
 * make a client.
 */
export type Connection = Sandbox | Sandkeep | ConnectionOptions;

/** A way to a sandbox. */
export interface Place {
  transport: Transport;
  sandbox: string | undefined;
}

/** The client that tools work with: one for all of them, whatever it was made of. */
export function clientOf(connection: Connection): Sandbox | Sandkeep {
  if (connection instanceof Sandbox || connection instanceof Sandkeep) return connection;
  if (typeof connection !== "object" || connection === null) {
    const message = "tools work on a sandbox, a client, or where `baseUrl` leads";
    throw new SandkeepError(message, { kind: "invalid_argument" });
  }
  const { sandbox, ...options } = connection;
  const keep = new Sandkeep(options);
  return sandbox === undefined ? keep : keep.sandbox(sandbox);
}

export function placeOf(connection: Connection): Place {
  const client = clientOf(connection);
  return client instanceof Sandbox
    ? { transport: Sandbox.transportOf(client), sandbox: client.id }
    : { transport: Sandkeep.transportOf(client), sandbox: undefined };
}
