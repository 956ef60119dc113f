/** One sandbox. */

import { Files } from "../files/files.js";
import type {
  Difference,
  ForkRequest,
  SandboxChange,
  SandboxInfo,
  SignedAddress,
  SignRequest,
  Stats,
} from "../generated/schemas.js";
import { segment } from "../transport/address.js";
import { jsonLines } from "../transport/lines.js";
import type { Repeat } from "../transport/retry.js";
import type { CallOptions, Transport } from "../transport/transport.js";
import { fromWire, toWire } from "../wire.js";
import { Audit, type AuditOptions } from "./audit.js";
import { Snapshots } from "./snapshots.js";

/** A sandbox by its id. To have one asks nothing of the server. */
export class Sandbox {
  readonly id: string;
  readonly files: Files;
  readonly snapshots: Snapshots;
  readonly #transport: Transport;
  readonly #address: string;

  /** @internal */
  constructor(transport: Transport, id: string) {
    this.id = id;
    this.#transport = transport;
    this.#address = `/v1/sandboxes/${segment(id, "sandbox")}`;
    this.files = new Files({ transport, address: this.#address });
    this.snapshots = new Snapshots(transport, this.#address);
  }

  /** @internal The way to the server, for other parts of this package. */
  static transportOf(sandbox: Sandbox): Transport {
    return sandbox.#transport;
  }

  /** What is known of it. */
  async info(options: CallOptions = {}): Promise<SandboxInfo> {
    return this.#json({ operation: "sandbox.info" }, options);
  }

  /** Changes its limits, labels or end; what is absent stays, labels that are null go. */
  async update(change: SandboxChange, options: CallOptions = {}): Promise<SandboxInfo> {
    const ask = { operation: "sandbox.update", method: "PATCH", repeat: "idempotent" } as const;
    return this.#json({ ...ask, json: change }, options);
  }

  /** Removes it with everything in it. */
  async delete(options: CallOptions = {}): Promise<void> {
    const ask = { operation: "sandbox.delete", method: "DELETE", path: this.#address };
    await this.#transport.done({ ...ask, repeat: "conditional", ...options });
  }

  /** Makes a sandbox that begins as a copy of this one. It costs the same whatever the size. */
  async fork(request: ForkRequest = {}, options: CallOptions = {}): Promise<Sandbox> {
    const ask = { operation: "sandbox.fork", method: "POST", route: "/fork", json: request };
    // An id that is made up would be another the second time.
    const repeat = request.id ? "conditional" : "never";
    const made = await this.#json<SandboxInfo>({ ...ask, repeat }, options);
    return new Sandbox(this.#transport, made.id);
  }

  /** How much it holds, and how much it may. */
  async stats(options: CallOptions = {}): Promise<Stats> {
    return this.#json({ operation: "sandbox.stats", route: "/stats" }, options);
  }

  /** What must happen to one state to become another: snapshots, or without one what is there now. */
  async *diff(
    states: { from?: string; to?: string },
    options: CallOptions = {},
  ): AsyncGenerator<Difference, void> {
    const { from, to } = states;
    const received = await this.#transport.send({
      operation: "sandbox.diff",
      method: "GET",
      path: `${this.#address}/diff`,
      query: { from, to },
      repeat: "safe",
      ...options,
    });
    for await (const line of jsonLines<unknown>(received.pieces(), "sandbox.diff")) {
      yield fromWire<Difference>(line);
    }
  }

  /** All of it as it is now, to be imported elsewhere; `since` leaves out what that snapshot has. */
  async export(options: CallOptions & { since?: string } = {}) {
    const { since, signal, timeout } = options;
    const received = await this.#transport.send({
      operation: "sandbox.export",
      method: "GET",
      path: `${this.#address}/export`,
      query: { since },
      repeat: "safe",
      ...{ signal, timeout },
    });
    return received.stream();
  }

  /** An address of one file or directory that needs no key. */
  async sign(request: SignRequest, options: CallOptions = {}): Promise<SignedAddress> {
    const ask = { operation: "sandbox.sign", method: "POST", route: "/sign", json: request };
    const signed = await this.#json<SignedAddress>(ask, options);
    return { ...signed, url: `${this.#transport.baseUrl}${signed.url}` };
  }

  /** What was done in it, and what was refused. */
  audit(options: AuditOptions = {}): Audit {
    return new Audit(this.#transport, `${this.#address}/audit`, options);
  }

  /** Asks for JSON; a look, unless something else is said. */
  async #json<T>(ask: AboutSandbox, options: CallOptions): Promise<T> {
    const { operation, method = "GET", route = "", repeat = "safe", json } = ask;
    const answer = await this.#transport.json({
      ...{ operation, method, repeat },
      path: `${this.#address}${route}`,
      json: json === undefined ? undefined : toWire(json),
      ...options,
    });
    return fromWire(answer);
  }
}

interface AboutSandbox {
  operation: string;
  method?: string;
  /** Behind the address of the sandbox. */
  route?: string;
  repeat?: Repeat;
  json?: unknown;
}
