/** The sandboxes of a server. */

import type { NewSandboxRequest, SandboxInfo, SandboxPage } from "../generated/schemas.js";
import { Paged } from "../paged.js";
import type { CallOptions, Transport } from "../transport/transport.js";
import { fromWire, toWire } from "../wire.js";
import { Sandbox } from "./sandbox.js";

/** Which sandboxes are listed. */
export interface SandboxListOptions extends CallOptions {
  /** Only those that have these labels; `true` for a label with any value. */
  labels?: Record<string, string | true> | undefined;
  pageSize?: number | undefined;
  /** Where an earlier page ended: its `next`. */
  cursor?: string | undefined;
}

/** All sandboxes that the key may see. */
export class Sandboxes {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Makes one. An id that is taken is `already_exists`, and what has it stays as it is. */
  async create(request: NewSandboxRequest = {}, options: CallOptions = {}): Promise<Sandbox> {
    const answer = await this.#transport.json<unknown>({
      operation: "sandboxes.create",
      method: "POST",
      path: "/v1/sandboxes",
      json: toWire(request),
      // An id that is made up would be another the second time.
      repeat: request.id ? "conditional" : "never",
      ...options,
    });
    return new Sandbox(this.#transport, fromWire<SandboxInfo>(answer).id);
  }

  /** What is known of each. */
  list(options: SandboxListOptions = {}): Paged<SandboxInfo> {
    const { signal, timeout, labels, pageSize: limit, cursor: begin } = options;
    const label = Object.entries(labels ?? {}).map(([key, value]) =>
      value === true ? key : `${key}=${value}`,
    );
    return new Paged(async (cursor) => {
      const answer = await this.#transport.json<unknown>({
        operation: "sandboxes.list",
        method: "GET",
        path: "/v1/sandboxes",
        query: { limit, cursor, label },
        repeat: "safe",
        ...{ signal, timeout },
      });
      const page = fromWire<SandboxPage>(answer);
      return { items: page.sandboxes, next: page.nextCursor };
    }, begin);
  }

  /** What is known of one. */
  async get(id: string, options: CallOptions = {}): Promise<SandboxInfo> {
    return new Sandbox(this.#transport, id).info(options);
  }

  /** Removes one with everything in it. */
  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await new Sandbox(this.#transport, id).delete(options);
  }
}
