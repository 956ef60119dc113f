/** What a caller's content comes from, piece by piece. */

import { SandkeepError } from "../errors.js";
import type { Patience } from "./patience.js";

/** Bytes that may come piece by piece. */
export type Stream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array | string>;

/** A stream that is taken piece by piece, and can be let go even while a piece is waited for. */
export class Source {
  readonly #take: () => Promise<IteratorResult<unknown>>;
  readonly #letGo: () => unknown;
  #isOver = false;

  constructor(stream: Stream) {
    // Not every browser can iterate over a stream; and an iterator could not be left while it waits.
    if (stream instanceof ReadableStream) {
      const reader = stream.getReader();
      this.#take = () => reader.read() as Promise<IteratorResult<unknown>>;
      this.#letGo = () => reader.cancel().finally(() => reader.releaseLock());
    } else {
      const iterator = iteratorOf(stream);
      this.#take = async () => iterator.next();
      this.#letGo = () => iterator.return?.();
    }
  }

  /** The next piece; undefined behind the last. */
  async next(): Promise<Uint8Array | undefined> {
    if (this.#isOver) return undefined;
    const { done, value } = await this.#take();
    if (!done) return bytesOf(value);
    this.#isOver = true;
    return undefined;
  }

  /** No more is wanted. */
  release(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    new Promise((resolve) => resolve(this.#letGo())).catch(() => {});
  }
}

/** A source that is let go as soon as its request ends. */
export function sourceOf(stream: Stream, { signal }: Patience): Source {
  const source = new Source(stream);
  if (signal.aborted) source.release();
  else signal.addEventListener("abort", () => source.release(), { once: true });
  return source;
}

function iteratorOf(stream: AsyncIterable<unknown>): AsyncIterator<unknown> {
  const either = stream as Partial<AsyncIterable<unknown> & Iterable<unknown>>;
  const iterator = either[Symbol.asyncIterator]?.() ?? either[Symbol.iterator]?.();
  if (iterator === undefined) throw new TypeError("the content can be read in no known way");
  return iterator as AsyncIterator<unknown>;
}

function bytesOf(piece: unknown): Uint8Array {
  if (typeof piece === "string") return new TextEncoder().encode(piece);
  if (piece instanceof Uint8Array) return piece;
  const message = "a stream of content must hold Uint8Arrays or strings";
  throw new SandkeepError(message, { kind: "invalid_argument" });
}
