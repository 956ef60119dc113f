/** A file that was asked for: what it is, and its bytes when they are wanted. */

import { SandkeepError } from "../errors.js";
import type { OnProgress } from "../transport/progress.js";
import type { Received } from "../transport/received.js";
import { versionOf } from "../wire.js";

/** The answer to a read. Its bytes can be taken once, as whatever is wanted. */
export class ReadFile {
  readonly path: string;
  /** The version of the file, for `ifMatch` and `ifNoneMatch`. */
  readonly version: string | undefined;
  /** How long the whole file is, if the server said so. */
  readonly size: number | undefined;
  /** When it last changed, to the second. */
  readonly modified: Date | undefined;
  /** Which bytes these are, if not all: the first, and the first behind. */
  readonly range: { start: number; end: number } | undefined;
  /** Whether the caller has this version already, so that there are no bytes. */
  readonly notModified: boolean;
  readonly #received: Received;
  readonly #onProgress: OnProgress | undefined;
  readonly #isHead: boolean;

  /** @internal */
  constructor(
    path: string,
    received: Received,
    { onProgress, isHead = false }: { onProgress?: OnProgress | undefined; isHead?: boolean } = {},
  ) {
    const [range, whole] = partOf(received.header("content-range"));
    const modified = received.header("last-modified");
    this.path = path;
    this.version = versionOf(received.header("etag"));
    this.notModified = received.status === 304;
    this.range = range;
    this.size = range === undefined && !this.notModified ? received.length : whole;
    this.modified = modified === undefined ? undefined : new Date(modified);
    this.#received = received;
    this.#onProgress = onProgress;
    this.#isHead = isHead;
    if (this.notModified || isHead) received.cancel();
  }

  /** All bytes. */
  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#content().bytes(this.#onProgress);
  }

  /** All of it as UTF-8. */
  async text(): Promise<string> {
    return this.#content().text(this.#onProgress);
  }

  /** The JSON that it holds. */
  async json<T = unknown>(): Promise<T> {
    const text = await this.text();
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      const facts = { kind: "invalid_argument", operation: "files.get", path: this.path, cause };
      throw new SandkeepError(`the file does not hold JSON: ${this.path}`, facts);
    }
  }

  /** The bytes as they come; the server sends no faster than they are taken. */
  stream(): ReadableStream<Uint8Array> {
    return this.#content().stream(this.#onProgress);
  }

  /** The bytes are not wanted. */
  cancel(): void {
    this.#received.cancel();
  }

  #content(): Received {
    if (this.#isHead) {
      const facts = { kind: "invalid_argument", operation: "files.head", path: this.path };
      const hint = "ask for the bytes with `get`";
      throw new SandkeepError("the head of a file has no bytes", { ...facts, hint });
    }
    if (!this.notModified) return this.#received;
    const facts = { kind: "not_modified", status: 304, operation: "files.get", path: this.path };
    throw new SandkeepError(`the file is the version that you have: ${this.path}`, facts);
  }
}

/** `bytes 5-9/20`, or a `*` where the length is not known. */
function partOf(header: string | undefined): [ReadFile["range"], number | undefined] {
  const [, first, last, total] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(header ?? "") ?? [];
  if (first === undefined || last === undefined) return [undefined, undefined];
  const whole = total === "*" || total === undefined ? undefined : Number(total);
  return [{ start: Number(first), end: Number(last) + 1 }, whole];
}
