/** The keys of a server. */

import type { KeyInfo, KeyPage, MadeKey, NewKeyRequest } from "../generated/schemas.js";
import { Paged } from "../paged.js";
import { segment } from "../transport/address.js";
import type { CallOptions, Transport } from "../transport/transport.js";
import { fromWire, toWire } from "../wire.js";

/** Who may do what. */
export class Keys {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Makes a key. The answer holds it once: keep it. */
  async create(request: NewKeyRequest, options: CallOptions = {}): Promise<MadeKey> {
    const ask = { operation: "keys.create", method: "POST", path: "/v1/keys" };
    const json = toWire(request);
    return fromWire(await this.#transport.json({ ...ask, json, repeat: "never", ...options }));
  }

  /** What is known of each; never the keys themselves. */
  list(options: CallOptions & { pageSize?: number; cursor?: string } = {}): Paged<KeyInfo> {
    const { signal, timeout, pageSize: limit, cursor: begin } = options;
    return new Paged(async (cursor) => {
      const answer = await this.#transport.json<unknown>({
        operation: "keys.list",
        method: "GET",
        path: "/v1/keys",
        query: { limit, cursor },
        repeat: "safe",
        ...{ signal, timeout },
      });
      const page = fromWire<KeyPage>(answer);
      return { items: page.keys, next: page.nextCursor };
    }, begin);
  }

  /** What is known of one. */
  async get(id: string, options: CallOptions = {}): Promise<KeyInfo> {
    const path = `/v1/keys/${segment(id, "key")}`;
    const ask = { operation: "keys.get", method: "GET", path, repeat: "safe" as const };
    return fromWire(await this.#transport.json({ ...ask, ...options }));
  }

  /** Takes one back, at once. Keys that it made live on. */
  async revoke(id: string, options: CallOptions = {}): Promise<void> {
    const path = `/v1/keys/${segment(id, "key")}`;
    const ask = { operation: "keys.revoke", method: "DELETE", path };
    await this.#transport.done({ ...ask, repeat: "conditional", ...options });
  }
}
