/** A Sandkeep server, as programs use it. */

import { DefaultFiles } from "./default_files.js";
import { SandkeepError } from "./errors.js";
import type { Health } from "./generated/schemas.js";
import { Audit, type AuditOptions } from "./sandboxes/audit.js";
import { Keys } from "./sandboxes/keys.js";
import { Sandbox } from "./sandboxes/sandbox.js";
import { Sandboxes } from "./sandboxes/sandboxes.js";
import {
  type CallOptions,
  type Secret,
  Transport,
  type TransportOptions,
} from "./transport/transport.js";

/** Which server, and who asks: by the server's `token`, or by a `key`. */
export interface SandkeepOptions extends TransportOptions {
  /** A key `ask_…`. A function is asked before every request. */
  key?: Secret | undefined;
}

/**
 * A client of a Sandkeep server.
 *
 * ```ts
 * const keep = new Sandkeep({ baseUrl: "http://127.0.0.1:2468", token: "…" });
 * const sandbox = await keep.sandboxes.create({ id: "alice" });
 * await sandbox.files.write("notes/today.txt", "hello");
 * ```
 */
export class Sandkeep {
  readonly sandboxes: Sandboxes;
  readonly keys: Keys;
  /** The files of the sandbox that the server was started with, or that the key is for. */
  readonly files: DefaultFiles;
  readonly #transport: Transport;

  constructor({ key, ...options }: SandkeepOptions) {
    if (key !== undefined && options.token !== undefined) {
      const message = "a request is made by a token or by a key, not by both";
      throw new SandkeepError(message, { kind: "invalid_argument" });
    }
    this.#transport = new Transport({ ...options, token: key ?? options.token });
    this.sandboxes = new Sandboxes(this.#transport);
    this.keys = new Keys(this.#transport);
    this.files = new DefaultFiles(this.#transport);
  }

  /** @internal The way to the server, for other parts of this package. */
  static transportOf(keep: Sandkeep): Transport {
    return keep.#transport;
  }

  /** A sandbox by its id. It asks nothing of the server. */
  sandbox(id: string): Sandbox {
    return new Sandbox(this.#transport, id);
  }

  /** Whether the server is there and lets the caller in. */
  async health(options: CallOptions = {}): Promise<Health> {
    const ask = { operation: "health", method: "GET", path: "/v1/health" };
    return this.#transport.json({ ...ask, repeat: "safe", ...options });
  }

  /** What was done to sandboxes and keys. */
  audit(options: AuditOptions = {}): Audit {
    return new Audit(this.#transport, "/v1/audit", options);
  }

  /** Who was not let in. */
  gateAudit(options: AuditOptions = {}): Audit {
    return new Audit(this.#transport, "/v1/audit/gate", options);
  }
}
