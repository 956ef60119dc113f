// The eight file methods: what is small goes by JSON-RPC, bytes by HTTP.

import type { CallOptions } from "./options.js";
import type * as Fs from "./shapes.js";
import { bothSpellings, sessionOf, type SessionQuery } from "./spellings.js";

/** A transfer of bytes on /v2/fs. */
export interface Transfer {
  method: "GET" | "PUT" | "POST";
  path: string;
  query: Record<string, string>;
  body?: BodyInit;
  contentType?: string;
}

export abstract class FileMethods {
  protected abstract call<T>(method: string, params: object, options?: CallOptions): Promise<T>;
  protected abstract transfer(transfer: Transfer, options?: CallOptions): Promise<Response>;

  async listFsEntries(query?: Fs.FsEntriesQuery, options?: CallOptions): Promise<Fs.FsEntry[]> {
    const params = { path: query?.path ?? ".", ...sessionOf(query) };
    const { entries } = await this.#call<{ entries: Fs.FsEntry[] }>("list_entries", params, options);
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
    const asked = { path: query.path, ...sessionOf(query) };
    const answer = await this.transfer({ method: "GET", path: FILE, query: asked }, options);
    return new Uint8Array(await answer.arrayBuffer());
  }

  async writeFsFile(
    query: Fs.FsPathQuery,
    body: BodyInit,
    options?: CallOptions,
  ): Promise<Fs.FsWriteResponse> {
    const asked = { path: query.path, ...sessionOf(query) };
    const contentType = "application/octet-stream";
    const transfer = { method: "PUT", path: FILE, query: asked, body, contentType } as const;
    const answer = await this.transfer(transfer, options);
    return bothSpellings((await answer.json()) as Fs.FsWriteResponse);
  }

  async uploadFsBatch(
    body: BodyInit,
    query?: Fs.FsUploadBatchQuery,
    options?: CallOptions,
  ): Promise<Fs.FsUploadBatchResponse> {
    const asked = { path: query?.path ?? ".", ...sessionOf(query) };
    const contentType = "application/x-tar";
    const transfer = { method: "POST", path: UPLOAD, query: asked, body, contentType } as const;
    return (await (await this.transfer(transfer, options)).json()) as Fs.FsUploadBatchResponse;
  }

  #call<T>(name: string, params: object, options?: CallOptions): Promise<T> {
    return this.call<T>(`_sandboxagent/fs/${name}`, params, options);
  }
}

const FILE = "/v2/fs/file";
const UPLOAD = "/v2/fs/upload-batch";
