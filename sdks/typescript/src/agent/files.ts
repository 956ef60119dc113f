// The eight file methods: what is small goes by JSON-RPC, bytes by HTTP.

import type { Content } from "../transport/body.js";
import type { Received } from "../transport/received.js";
import type { Ask, CallOptions } from "../transport/transport.js";
import type * as Fs from "./shapes.js";
import { bothSpellings, type SessionQuery, sessionOf } from "./spellings.js";

/** What a file or an archive may be made of: all that `fetch` takes, and any async iterable. */
export type Body = Content | URLSearchParams | FormData;

export abstract class FileMethods {
  protected abstract call<T>(method: string, params: object, options?: CallOptions): Promise<T>;
  /** Sends, and takes what is answered; both end when the caller gives up. */
  protected abstract transfer<T>(ask: Ask, take: (answer: Received) => Promise<T>): Promise<T>;

  async listFsEntries(query?: Fs.FsEntriesQuery, options?: CallOptions): Promise<Fs.FsEntry[]> {
    const params = { path: query?.path ?? ".", ...sessionOf(query) };
    const { entries } = await this.#call<{ entries: Fs.FsEntry[] }>(
      "list_entries",
      params,
      options,
    );
    return entries.map(bothSpellings);
  }

  async statFs(query: Fs.FsPathQuery, options?: CallOptions): Promise<Fs.FsStat> {
    const params = { path: query.path, ...sessionOf(query) };
    return bothSpellings(await this.#call<Fs.FsStat>("stat", params, options));
  }

  async mkdirFs(query: Fs.FsPathQuery, options?: CallOptions): Promise<Fs.FsActionResponse> {
    return this.#call("mkdir", { path: query.path, ...sessionOf(query) }, options);
  }

  async moveFs(
    request: Fs.FsMoveRequest,
    query?: SessionQuery,
    options?: CallOptions,
  ): Promise<Fs.FsMoveResponse> {
    const { from, to, overwrite } = request;
    const params = { from, to, overwrite: overwrite ?? false, ...sessionOf(query) };
    return this.#call("move", params, options);
  }

  async deleteFsEntry(
    query: Fs.FsDeleteQuery,
    options?: CallOptions,
  ): Promise<Fs.FsActionResponse> {
    const { path, recursive } = query;
    const params = { path, recursive: recursive ?? false, ...sessionOf(query) };
    return this.#call("delete_entry", params, options);
  }

  async readFsFile(query: Fs.FsPathQuery, options?: CallOptions): Promise<Uint8Array> {
    const operation = "readFsFile";
    const asked = { path: query.path, ...sessionOf(query) };
    const facts = { method: "GET", path: FILE, query: asked, repeat: "safe" } as const;
    const headers = { accept: "application/octet-stream" };
    return this.transfer({ operation, ...facts, headers, ...options }, (answer) => answer.bytes());
  }

  async writeFsFile(
    query: Fs.FsPathQuery,
    body: Body,
    options?: CallOptions,
  ): Promise<Fs.FsWriteResponse> {
    const operation = "writeFsFile";
    const asked = { path: query.path, ...sessionOf(query) };
    const facts = { method: "PUT", path: FILE, query: asked, repeat: "idempotent" } as const;
    const content = await contentOf(body);
    const ask = { operation, ...facts, content, ...options };
    const written = await this.transfer(ask, (answer) => answer.json<Fs.FsWriteResponse>());
    return bothSpellings(written);
  }

  async uploadFsBatch(
    body: Body,
    query?: Fs.FsUploadBatchQuery,
    options?: CallOptions,
  ): Promise<Fs.FsUploadBatchResponse> {
    const operation = "uploadFsBatch";
    const asked = { path: query?.path ?? ".", ...sessionOf(query) };
    const facts = { method: "POST", path: UPLOAD, query: asked, repeat: "idempotent" } as const;
    const headers = { "content-type": "application/x-tar" };
    const content = await contentOf(body);
    const ask = { operation, ...facts, headers, content, ...options };
    return this.transfer(ask, (answer) => answer.json<Fs.FsUploadBatchResponse>());
  }

  #call<T>(name: string, params: object, options?: CallOptions): Promise<T> {
    return this.call<T>(`_sandboxagent/fs/${name}`, params, options);
  }
}

const FILE = "/v2/fs/file";
const UPLOAD = "/v2/fs/upload-batch";

// Forms are sent as the bytes that they are on the wire.
async function contentOf(body: Body): Promise<Content> {
  if (body instanceof URLSearchParams) return body.toString();
  return body instanceof FormData ? new Response(body).blob() : body;
}
