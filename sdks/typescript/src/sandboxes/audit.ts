/** Who did what, and who was not let. */

import type { AuditEvent, AuditPage } from "../generated/schemas.js";
import { Paged } from "../paged.js";
import type { CallOptions, Transport } from "../transport/transport.js";
import { fromWire } from "../wire.js";

/** Where to begin, and how much at once. */
export interface AuditOptions extends CallOptions {
  /** Behind which page to begin: its `next`, or the `cursor` that was kept. */
  cursor?: string | undefined;
  /** How many events are fetched at once. */
  pageSize?: number | undefined;
  /** Told that events are gone before these, because they were too old or too many. */
  onGap?: (() => void) | undefined;
}

/** A log, from its beginning to what is there by now. */
export class Audit extends Paged<AuditEvent> {
  #cursor: string | undefined;

  /** @internal */
  constructor(transport: Transport, path: string, options: AuditOptions) {
    const { signal, timeout, pageSize: limit } = options;
    super(async (cursor) => {
      const ask = { operation: "audit", method: "GET", path, repeat: "safe" as const };
      const query = { limit, cursor };
      const answer = await transport.json<unknown>({ ...ask, query, signal, timeout });
      const page = fromWire<AuditPage>(answer);
      if (page.gap) options.onGap?.();
      this.#cursor = page.cursor ?? cursor;
      return { items: page.events, next: page.more ? page.cursor : undefined };
    }, options.cursor);
    this.#cursor = options.cursor;
  }

  /** Where to go on later: behind the last page that was fetched. */
  get cursor(): string | undefined {
    return this.#cursor;
  }
}
