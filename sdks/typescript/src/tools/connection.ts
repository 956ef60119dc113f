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

export function placeOf(connection: Connection): Place {
  if (connection instanceof Sandbox) {
    return { transport: Sandbox.transportOf(connection), sandbox: connection.id };
  }
  if (connection instanceof Sandkeep) {
    return { transport: Sandkeep.transportOf(connection), sandbox: undefined };
  }
  if (typeof connection !== "object" || connection === null) {
    const message = "tools work on a sandbox, a client, or where `baseUrl` leads";
    throw new SandkeepError(message, { kind: "invalid_argument" });
  }
  const { sandbox, ...options } = connection;
  return { transport: Sandkeep.transportOf(new Sandkeep(options)), sandbox };
}
