/** What a caller wants to send, as something that `fetch` sends without holding it all. */

import { SandkeepError } from "../errors.js";
import type { Patience } from "./patience.js";

/** Bytes that may come piece by piece. */
export type Stream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array | string>;

/**
 * What a file may be made of. A function is called for each try, so that a stream can be sent again
 * when a line broke; a stream itself is sent once.
 */
export type Content =
  | string
  | Uint8Array
  | ArrayBuffer
  | ArrayBufferView
  | Blob
  | Stream
  | (() => Stream | Promise<Stream>);

/** How much has gone or come, of how much if that is known. */
export interface Progress {
  bytes: number;
  total: number | undefined;
}

export type OnProgress = (progress: Progress) => void;

/** From this size on, a body is sent in pieces, so that it can be seen that it moves. */
const LARGE = 1024 * 1024;
const PIECE = 64 * 1024;

/** A body that is ready to be sent. */
export interface Outgoing {
  body: Blob | Uint8Array | ReadableStream<Uint8Array>;
  total: number | undefined;
}

/** Whether the same content can be sent twice. */
export function isRepeatable(content: Content | undefined): boolean {
  return content === undefined || typeof content === "function" || isWhole(content);
}

/** How long content is, if that is known before it is sent. */
export function lengthOf(content: Content): number | undefined {
  if (!isWhole(content)) return undefined;
  return content instanceof Blob ? content.size : bytesOf(content).byteLength;
}

/** Content as a body. Where requests cannot be streamed, it is held as a Blob first. */
export async function outgoing(
  content: Content,
  patience: Patience,
  canStream: boolean,
): Promise<Outgoing> {
  if (content instanceof Blob) return { body: content, total: content.size };
  if (isWhole(content)) {
    const bytes = bytesOf(content);
    return { body: bytes, total: bytes.byteLength };
  }
  try {
    const stream = pieces(typeof content === "function" ? await content() : content);
    if (canStream) return { body: streamOf(stream), total: undefined };
    const blob = await held(stream, patience.signal);
    return { body: blob, total: blob.size };
  } catch (error) {
    if (patience.signal.aborted) throw error;
    throw patience.blame(error);
  }
}

async function held(stream: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<Blob> {
  const parts: Blob[] = [];
  for await (const piece of stream) {
    if (signal.aborted) throw signal.reason;
    parts.push(new Blob([piece as Uint8Array<ArrayBuffer>]));
  }
  return new Blob(parts);
}

/**
 * The body as a stream that says how far it is; whoever takes a piece is heard. Small ones are sent
 * as they are, unless they must go out `once`: runtimes send again by themselves what is no stream,
 * when a connection breaks that they had used before.
 */
export function observed(
  { body, total }: Outgoing,
  patience: Patience,
  { onProgress, once }: { onProgress: OnProgress | undefined; once: boolean },
): Outgoing["body"] {
  const isStream = body instanceof ReadableStream;
  if (!isStream && !once && onProgress === undefined && (total ?? 0) < LARGE) return body;
  let bytes = 0;
  const source = isStream ? body : body instanceof Blob ? body.stream() : cut(body);
  const observe = async function* () {
    try {
      for await (const piece of pieces(source)) {
        patience.heard();
        yield piece;
        bytes += piece.byteLength;
        onProgress?.({ bytes, total });
      }
    } catch (error) {
      // Runtimes tell of it as if the line had broken.
      throw patience.blame(error);
    }
  };
  return streamOf(observe());
}

function isWhole(content: Content): content is string | ArrayBuffer | ArrayBufferView | Blob {
  return (
    typeof content === "string" ||
    content instanceof Blob ||
    content instanceof ArrayBuffer ||
    ArrayBuffer.isView(content)
  );
}

function bytesOf(content: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof content === "string") return new TextEncoder().encode(content);
  if (content instanceof ArrayBuffer) return new Uint8Array(content);
  return new Uint8Array(content.buffer, content.byteOffset, content.byteLength);
}

async function* cut(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

/** The pieces of a stream. Whoever stops early lets it go. */
export async function* pieces(stream: Stream): AsyncGenerator<Uint8Array> {
  // Not every browser can iterate over a stream.
  const source = stream instanceof ReadableStream ? readAll(stream) : stream;
  for await (const piece of source) {
    if (typeof piece === "string") yield new TextEncoder().encode(piece);
    else if (piece instanceof Uint8Array) yield piece;
    else {
      const message = "a stream of content must hold Uint8Arrays or strings";
      throw new SandkeepError(message, { kind: "invalid_argument" });
    }
  }
}

async function* readAll(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  let isDone = false;
  try {
    while (true) {
      const { done, value } = await reader.read();
      isDone = done;
      if (done) return;
      yield value;
    }
  } finally {
    if (!isDone) reader.cancel().catch(() => {});
    reader.releaseLock();
  }
}

/** A stream that takes a piece only when one is wanted. `onCancel` ends what it is waiting for. */
export function streamOf(
  source: AsyncGenerator<Uint8Array>,
  onCancel?: () => void,
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
        onCancel?.();
        await source.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
