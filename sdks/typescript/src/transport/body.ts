/** What a caller wants to send, as something that `fetch` sends without holding it all. */

import type { Patience } from "./patience.js";
import type { OnProgress } from "./progress.js";
import { Source, type Stream, sourceOf } from "./source.js";

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

/** From this size on, a body is sent in pieces, so that it can be seen that it moves. */
const LARGE = 1024 * 1024;
const PIECE = 64 * 1024;

/** A body that is ready to be sent. */
export interface Outgoing {
  body: Blob | Uint8Array | Source;
  total: number | undefined;
}

/** Whether this is content: who forgets it does not mean an empty file. */
export function isContent(content: unknown): content is Content {
  if (typeof content === "function" || isWhole(content)) return true;
  if (typeof content !== "object" || content === null) return false;
  return (
    content instanceof ReadableStream ||
    Symbol.asyncIterator in content ||
    Symbol.iterator in content
  );
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
    const stream = typeof content === "function" ? await opened(content, patience) : content;
    const source = sourceOf(stream, patience);
    if (canStream) return { body: source, total: undefined };
    const blob = await held(source, patience);
    return { body: blob, total: blob.size };
  } catch (error) {
    if (patience.signal.aborted) throw error;
    throw patience.blame(error);
  }
}

/** The stream that a function gives. One that comes when nobody waits any more is let go. */
async function opened(open: () => Stream | Promise<Stream>, patience: Patience): Promise<Stream> {
  const opening = (async () => open())();
  try {
    return await patience.during(patience.orAborted(opening), "the function of the content");
  } catch (error) {
    opening.then((stream) => sourceOf(stream, patience)).catch(() => {});
    throw error;
  }
}

async function held(source: Source, patience: Patience): Promise<Blob> {
  const parts: Blob[] = [];
  const next = () => patience.orAborted(source.next());
  for (let piece = await next(); piece !== undefined; piece = await next()) {
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
): Blob | Uint8Array | ReadableStream<Uint8Array> {
  if (body instanceof Source) return streamed(body, total, patience, onProgress);
  if (!once && onProgress === undefined && (total ?? 0) < LARGE) return body;
  const source = sourceOf(body instanceof Blob ? body.stream() : cut(body), patience);
  return streamed(source, total, patience, onProgress);
}

/** A stream that takes a piece only when one is wanted: then the one before is on its way. */
function streamed(
  source: Source,
  total: number | undefined,
  patience: Patience,
  onProgress: OnProgress | undefined,
): ReadableStream<Uint8Array> {
  let [bytes, onItsWay] = [0, 0];
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          bytes += onItsWay;
          if (onItsWay > 0) onProgress?.({ bytes, total });
          const piece = await patience.meanwhile(source.next());
          onItsWay = piece?.byteLength ?? 0;
          if (piece === undefined) controller.close();
          else controller.enqueue(piece);
        } catch (error) {
          source.release();
          const { aborted, reason } = patience.signal;
          // Runtimes tell of it as if the line had broken.
          controller.error(aborted ? reason : patience.blame(error));
        }
      },
      cancel: () => source.release(),
    },
    { highWaterMark: 0 },
  );
}

function isWhole(content: unknown): content is string | ArrayBuffer | ArrayBufferView | Blob {
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
