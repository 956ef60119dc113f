/** The snapshots of a sandbox. */

import type { NewSnapshotRequest, SnapshotInfo, SnapshotPage } from "../generated/schemas.js";
import { Paged } from "../paged.js";
import { segment } from "../transport/address.js";
import type { Content } from "../transport/body.js";
import type { OnProgress } from "../transport/progress.js";
import type { CallOptions, Transport } from "../transport/transport.js";
import { fromWire, toWire } from "../wire.js";

/** What an imported snapshot is called. */
export interface ImportOptions extends CallOptions {
  /** A name that sorts by time is made up without it. */
  id?: string | undefined;
  message?: string | undefined;
  labels?: Record<string, string> | undefined;
  onProgress?: OnProgress | undefined;
}

/** States of a sandbox that are kept, whatever happens to it. */
export class Snapshots {
  readonly #transport: Transport;
  readonly #sandbox: string;

  /** @internal */
  constructor(transport: Transport, sandbox: string) {
    this.#transport = transport;
    this.#sandbox = sandbox;
  }

  /** Keeps the sandbox as it is now. It costs the same whatever the size. */
  async create(request: NewSnapshotRequest = {}, options: CallOptions = {}): Promise<SnapshotInfo> {
    const answer = await this.#transport.json<unknown>({
      operation: "snapshots.create",
      method: "POST",
      path: `${this.#sandbox}/snapshots`,
      json: toWire(request),
      // A name that is made up would be another the second time.
      repeat: request.id ? "conditional" : "never",
      ...options,
    });
    return fromWire(answer);
  }

  /** All of them, in the order of their ids. */
  list(options: CallOptions & { pageSize?: number; cursor?: string } = {}): Paged<SnapshotInfo> {
    const { signal, timeout, pageSize: limit, cursor: begin } = options;
    return new Paged(async (cursor) => {
      const answer = await this.#transport.json<unknown>({
        operation: "snapshots.list",
        method: "GET",
        path: `${this.#sandbox}/snapshots`,
        query: { limit, cursor },
        repeat: "safe",
        ...{ signal, timeout },
      });
      const page = fromWire<SnapshotPage>(answer);
      return { items: page.snapshots, next: page.nextCursor };
    }, begin);
  }

  /** What is known of one. */
  async get(id: string, options: CallOptions = {}): Promise<SnapshotInfo> {
    const path = this.#address(id);
    const ask = { operation: "snapshots.get", method: "GET", path, repeat: "safe" as const };
    return fromWire(await this.#transport.json({ ...ask, ...options }));
  }

  /** Brings back everything as it was, or one path. */
  async restore(id: string, options: CallOptions & { path?: string } = {}): Promise<void> {
    const { path, signal, timeout } = options;
    await this.#transport.done({
      operation: "snapshots.restore",
      method: "POST",
      path: `${this.#address(id)}/restore`,
      json: toWire({ path }),
      // What others changed since would go a second time.
      repeat: "never",
      ...{ signal, timeout },
    });
  }

  /** Forgets one. */
  async delete(id: string, options: CallOptions = {}): Promise<void> {
    const path = this.#address(id);
    const ask = { operation: "snapshots.delete", method: "DELETE", path };
    await this.#transport.done({ ...ask, repeat: "conditional", ...options });
  }

  /** One as a stream of bytes, to be imported elsewhere; `since` leaves out what that one has. */
  async export(
    id: string,
    options: CallOptions & { since?: string } = {},
  ): Promise<ReadableStream<Uint8Array>> {
    const { since, signal, timeout } = options;
    const received = await this.#transport.send({
      operation: "snapshots.export",
      method: "GET",
      path: `${this.#address(id)}/export`,
      query: { since },
      repeat: "safe",
      ...{ signal, timeout },
    });
    return received.stream();
  }

  /** Takes in what an export gave. A stream that is cut off or damaged changes nothing. */
  async import(stream: Content, options: ImportOptions = {}): Promise<SnapshotInfo> {
    const { id, message, labels, onProgress, signal, timeout } = options;
    const label = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
    const answer = await this.#transport.json<unknown>({
      operation: "snapshots.import",
      method: "POST",
      path: `${this.#sandbox}/snapshot-import`,
      query: { snapshot: id, message, label },
      content: stream,
      repeat: id ? "conditional" : "never",
      ...{ onProgress, signal, timeout },
    });
    return fromWire(answer);
  }

  #address(id: string): string {
    return `${this.#sandbox}/snapshots/${segment(id, "snapshot")}`;
  }
}
