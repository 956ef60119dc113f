/** `/v1/fs`: the files of the sandbox that the server was started with, or that a key is for. */

import { type Conditions, conditionHeaders, repeatOf } from "./files/conditions.js";
import { callOf, type ReadOptions } from "./files/readable.js";
import type {
  DefaultAction,
  DefaultEntry,
  DefaultMove,
  DefaultStat,
  DefaultUpload,
  DefaultWrite,
} from "./generated/schemas.js";
import { Paged } from "./paged.js";
import { notUnderstood } from "./transport/answer.js";
import type { Content } from "./transport/body.js";
import type { OnProgress } from "./transport/progress.js";
import type { Repeat } from "./transport/retry.js";
import type { Ask, CallOptions, Transport } from "./transport/transport.js";
import { tags } from "./wire.js";

/** Where relative paths begin. */
export interface SessionOptions extends CallOptions {
  /** The working directory of this session; the sandbox's home without it. */
  sessionId?: string | undefined;
}

/** The default tree. Paths are absolute as the sandbox sees them, or relative to the session. */
export class DefaultFiles {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** What a directory holds; the home without a path. */
  list(
    path?: string,
    options: SessionOptions & { pageSize?: number; after?: string } = {},
  ): Paged<DefaultEntry> {
    const { pageSize: limit = 1000, after: begin, sessionId } = options;
    return new Paged(async (after) => {
      const query = { path, sessionId, limit, after };
      const ask = this.#ask("list", "GET", "entries", "safe", { query, ...callOf(options) });
      const received = await this.#transport.send(ask);
      const next = decoded(received.header("x-next-after"));
      return { items: await received.json<DefaultEntry[]>(), next };
    }, begin);
  }

  /** The bytes of a file. */
  async read(
    path: string,
    options: SessionOptions & Pick<ReadOptions, "ifMatch" | "onProgress"> = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const { sessionId, ifMatch, onProgress } = options;
    const more = { query: { path, sessionId }, headers: { "if-match": tags(ifMatch) } };
    const ask = this.#ask("read", "GET", "file", "safe", { ...more, ...callOf(options) });
    return (await this.#transport.send(ask)).bytes(onProgress);
  }

  /** A file as UTF-8. */
  async readText(path: string, options: SessionOptions = {}): Promise<string> {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await this.read(path, options));
  }

  /** Puts a file in place, whole. Missing directories are made. */
  async write(
    path: string,
    content: Content,
    options: SessionOptions & Conditions & { onProgress?: OnProgress } = {},
  ): Promise<DefaultWrite> {
    const { sessionId, onProgress } = options;
    const repeat = repeatOf(options, "idempotent");
    const more = { query: { path, sessionId }, headers: conditionHeaders(options), content };
    return this.#json("write", "PUT", "file", repeat, { ...more, onProgress, ...callOf(options) });
  }

  /** Removes a file, a link itself, or a directory; one that is not empty only if `recursive`. */
  async delete(
    path: string,
    options: SessionOptions & Conditions & { recursive?: boolean } = {},
  ): Promise<DefaultAction> {
    const { sessionId, recursive } = options;
    const more = { query: { path, sessionId, recursive }, headers: conditionHeaders(options) };
    const ask = { ...more, ...callOf(options) };
    return this.#json("delete", "DELETE", "entry", "conditional", ask);
  }

  /** Makes a directory and its parents. */
  async mkdir(path: string, options: SessionOptions = {}): Promise<DefaultAction> {
    const query = { path, sessionId: options.sessionId };
    return this.#json("mkdir", "POST", "mkdir", "idempotent", { query, ...callOf(options) });
  }

  /** Moves or renames anything; onto something else only if told to `overwrite` it. */
  async move(from: string, to: string, options: SessionOptions & { overwrite?: boolean } = {}) {
    return this.#trip("move", from, to, options);
  }

  /** Copies anything; onto something else only if told to `overwrite` it. */
  async copy(from: string, to: string, options: SessionOptions & { overwrite?: boolean } = {}) {
    return this.#trip("copy", from, to, options);
  }

  /** What is at a path. */
  async stat(path: string, options: SessionOptions = {}): Promise<DefaultStat> {
    const query = { path, sessionId: options.sessionId };
    return this.#json("stat", "GET", "stat", "safe", { query, ...callOf(options) });
  }

  /** Unpacks a tar archive into a directory. */
  async upload(
    path: string,
    tar: Content,
    options: SessionOptions & { onProgress?: OnProgress } = {},
  ): Promise<DefaultUpload> {
    const { sessionId, onProgress } = options;
    const headers = { "content-type": "application/x-tar" };
    const more = { query: { path, sessionId }, headers, content: tar, onProgress };
    return this.#json("upload", "POST", "upload-batch", "never", { ...more, ...callOf(options) });
  }

  /** A tree, or one file, as a tar archive. */
  async download(path?: string, options: SessionOptions = {}): Promise<ReadableStream<Uint8Array>> {
    const query = { path, sessionId: options.sessionId };
    const more = { query, ...callOf(options) };
    const ask = this.#ask("download", "GET", "download-batch", "safe", more);
    return (await this.#transport.send(ask)).stream();
  }

  async #trip(
    word: "move" | "copy",
    from: string,
    to: string,
    options: SessionOptions & { overwrite?: boolean },
  ): Promise<DefaultMove> {
    const { overwrite, sessionId } = options;
    const more = { query: { sessionId }, json: { from, to, overwrite }, ...callOf(options) };
    return this.#json(word, "POST", word, "never", more);
  }

  async #json<T>(...words: AskWords): Promise<T> {
    return this.#transport.json<T>(this.#ask(...words));
  }

  #ask(...[word, method, route, repeat, more]: AskWords): Ask {
    return { operation: `files.${word}`, method, path: `/v1/fs/${route}`, repeat, ...more };
  }
}

/** A name as headers have it: they hold none but simple characters. */
function decoded(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  try {
    return decodeURIComponent(name);
  } catch (cause) {
    throw notUnderstood("where the next page begins is not readable", "files.list", cause);
  }
}

/** The name of the call, its method, its route, what a repetition does, and the rest. */
type AskWords = [string, string, string, Repeat, Partial<Ask>];
