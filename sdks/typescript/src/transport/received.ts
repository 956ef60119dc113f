/** An answer whose body is still to come. */

import { SandkeepError } from "../errors.js";
import { notUnderstood } from "./answer.js";
import type { Patience } from "./patience.js";
import { careful, type OnProgress } from "./progress.js";

/** The head of an answer, and its body as whatever is wanted. The body can be taken once. */
export class Received {
  readonly #response: Response;
  readonly #operation: string;
  readonly #patience: Patience;
  #isTaken = false;

  constructor(response: Response, operation: string, patience: Patience) {
    this.#response = response;
    this.#operation = operation;
    this.#patience = patience;
  }

  get status(): number {
    return this.#response.status;
  }

  header(name: string): string | undefined {
    return this.#response.headers.get(name) ?? undefined;
  }

  /** How long the body is, if the server said so and nothing on the way packed it. */
  get length(): number | undefined {
    const length = this.header("content-length");
    return length === undefined || this.header("content-encoding") ? undefined : Number(length);
  }

  /** The body, piece by piece. Whoever stops early ends the request. */
  async *pieces(onProgress?: OnProgress): AsyncGenerator<Uint8Array> {
    if (this.#isTaken) throw takenAlready(this.#operation);
    this.#isTaken = true;
    const [body, total] = [this.#response.body, this.length];
    const tell = careful(onProgress, this.#operation);
    if (body === null) return this.#patience.done();
    const reader = body.getReader();
    let [bytes, isWhole] = [0, false];
    try {
      while (true) {
        const { done, value } = await this.#patience.during(reader.read());
        if (done) break;
        bytes += value.byteLength;
        tell?.({ bytes, total });
        yield value;
      }
      // Not every runtime says so itself.
      if (total !== undefined && bytes < total) {
        throw new TypeError(`the answer ended after ${bytes} of ${total} bytes`);
      }
      isWhole = true;
    } catch (cause) {
      throw this.#patience.explain(cause);
    } finally {
      if (isWhole) this.#patience.done();
      else this.cancel();
    }
  }

  /** The body as a stream that is read only as fast as it is taken. */
  stream(onProgress?: OnProgress): ReadableStream<Uint8Array> {
    return streamOf(this.pieces(onProgress), () => this.cancel());
  }

  /** The whole body. */
  async bytes(onProgress?: OnProgress): Promise<Uint8Array<ArrayBuffer>> {
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const piece of this.pieces(onProgress)) {
      parts.push(piece);
      length += piece.byteLength;
    }
    const bytes = new Uint8Array(length);
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.byteLength;
    }
    return bytes;
  }

  /** The whole body as UTF-8; bytes that are none become replacement characters. */
  async text(onProgress?: OnProgress): Promise<string> {
    // A byte order mark is part of what the file holds.
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await this.bytes(onProgress));
  }

  /** The body as JSON. */
  async json<T>(): Promise<T> {
    const text = await this.text();
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      throw notUnderstood("the answer is not JSON", this.#operation, cause);
    }
  }

  /** The body is not wanted. */
  cancel(): void {
    this.#isTaken = true;
    this.#response.body?.cancel().catch(() => {});
    this.#patience.end();
  }

  /** There is no body that anybody needs. */
  async ignored(): Promise<void> {
    try {
      await this.bytes();
    } catch (error) {
      // It happened: the status said so. That its empty end got lost changes nothing.
      if (!(error instanceof SandkeepError)) throw error;
    }
  }
}

/** A stream that takes a piece only when one is wanted. `onCancel` ends what it is waiting for. */
function streamOf(
  source: AsyncGenerator<Uint8Array>,
  onCancel: () => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await source.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          controller.error(error);
        }
      },
      async cancel() {
        onCancel();
        await source.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

function takenAlready(operation: string): SandkeepError {
  const message = "the bytes of the answer were taken already, or let go";
  const hint = "keep what you took, or ask again";
  return new SandkeepError(message, { kind: "invalid_argument", hint, operation });
}
