/** The files of a sandbox: all that `ReadableFiles` sees, and everything that changes it. */

import { SandkeepError } from "../errors.js";
import type { EditResult, Replacement, Stat, Target, Unpacked } from "../generated/schemas.js";
import { type Content, lengthOf } from "../transport/body.js";
import type { OnProgress } from "../transport/progress.js";
import type { Received } from "../transport/received.js";
import type { Repeat } from "../transport/retry.js";
import type { Ask, CallOptions } from "../transport/transport.js";
import { fromWire, toQuery, toWire, versionOf } from "../wire.js";
import { Batch } from "./batch.js";
import { type Conditions, conditionHeaders, repeatOf } from "./conditions.js";
import { route } from "./place.js";
import { type ArchiveOptions, callOf, ReadableFiles } from "./readable.js";
import { timestamp } from "./times.js";
import { Watch, type WatchOptions } from "./watch.js";

/** How a file is written. */
export interface WriteOptions extends CallOptions, Conditions {
  /** `false` to write only where the directory is there already. */
  parents?: boolean | undefined;
  /** Told how much is sent. */
  onProgress?: OnProgress | undefined;
}

/** What a write did. */
export interface Written {
  /** The version that is there now, for `ifMatch`. */
  version: string | undefined;
  /** How long the file is now. */
  size: number;
  /** Whether the file is new. */
  created: boolean;
}

/** What is replaced in a text, and how. */
export interface EditOptions
  extends CallOptions,
    Pick<Conditions, "ifMatch" | "ifUnmodifiedSince"> {
  /** Whether the file stays as it is, and only the outcome is told. */
  dryRun?: boolean | undefined;
  /** How the bytes stand for text, such as `utf-16le`; a byte order mark or UTF-8 without it. */
  encoding?: string | undefined;
}

/** The files of a sandbox. Paths begin at its root; `..` is refused. */
export class Files extends ReadableFiles {
  /** Puts a file in place, whole: others see all of it or none. Missing directories are made. */
  async write(
    path: string,
    content: Content,
    options: WriteOptions & { mustBeNew?: boolean | undefined } = {},
  ): Promise<Written> {
    const { mustBeNew, parents } = options;
    const repeat = mustBeNew ? "conditional" : repeatOf(options, "idempotent");
    return this.#put("PUT", path, content, options, {
      operation: "files.write",
      query: { new: mustBeNew || undefined, parents },
      repeat,
    });
  }

  /** Writes behind the end of a file, which is made if it is not there. */
  async append(path: string, content: Content, options: WriteOptions = {}): Promise<Written> {
    return this.#put("PATCH", path, content, options, {
      operation: "files.append",
      query: { parents: options.parents },
      headers: { "x-append": "1" },
      repeat: repeatOf(options, "never"),
    });
  }

  /**
   * Writes a part of a file, which begins at `offset`. What lies between the end of the file and the
   * part reads as zeros. `total` is how long the file must be afterwards.
   */
  async writeAt(
    path: string,
    offset: number,
    content: Exclude<Content, ReadableStream | AsyncIterable<unknown> | (() => unknown)>,
    options: WriteOptions & { total?: number | undefined } = {},
  ): Promise<Written> {
    const length = lengthOf(content);
    if (length === undefined || length === 0 || !Number.isSafeInteger(offset) || offset < 0) {
      const message = "a part needs an offset, and content whose length is known and not 0";
      const facts = { kind: "invalid_argument", operation: "files.writeAt", path };
      throw new SandkeepError(message, facts);
    }
    const range = `bytes ${offset}-${offset + length - 1}/${options.total ?? "*"}`;
    return this.#put("PATCH", path, content, options, {
      operation: "files.writeAt",
      query: { parents: options.parents },
      headers: { "content-range": range },
      repeat: repeatOf(options, "idempotent"),
    });
  }

  /**
   * Removes a file, a link itself, or a directory with everything in it. What is not there is gone
   * already, unless it `mustExist`; `recursive: false` spares directories that are not empty.
   */
  async delete(
    path: string,
    options: CallOptions & Conditions & { recursive?: boolean; mustExist?: boolean } = {},
  ): Promise<void> {
    const { recursive, mustExist, ifMatch } = options;
    await this.place.transport.done({
      operation: "files.delete",
      method: "DELETE",
      path: route(this.place, "fs", path),
      query: { recursive, must_exist: mustExist },
      headers: conditionHeaders(options),
      // What must be there is not there the second time.
      repeat: mustExist || ifMatch !== undefined ? "conditional" : repeatOf(options, "idempotent"),
      ...callOf(options),
    });
  }

  /** Makes a directory and its parents; `parents: false` makes one alone, which must be new. */
  async mkdir(path: string, options: CallOptions & { parents?: boolean } = {}): Promise<Stat> {
    return this.#change({
      operation: "files.mkdir",
      path: route(this.place, "fs-mkdir", path),
      query: { parents: options.parents },
      repeat: options.parents === false ? "conditional" : "idempotent",
      ...callOf(options),
    });
  }

  /** Moves or renames anything. Nothing may be at the destination, unless `target` says so. */
  async move(from: string, to: string, options: CallOptions & { target?: Target } = {}) {
    return this.#trip("move", from, to, options);
  }

  /** Copies a file, a link itself, or a tree, with modes and times. */
  async copy(from: string, to: string, options: CallOptions & { target?: Target } = {}) {
    return this.#trip("copy", from, to, options);
  }

  /** Makes a symbolic link. It may lead anywhere, and is followed only inside the sandbox. */
  async link(path: string, target: string, options: CallOptions = {}): Promise<Stat> {
    return this.#change({
      operation: "files.link",
      method: "PUT",
      path: route(this.place, "fs-link", path),
      json: { target },
      repeat: "conditional",
      ...callOf(options),
    });
  }

  /** Changes the mode (octal, such as `755`) or the time of a file or directory. */
  async chmod(
    path: string,
    change: { mode?: string; modified?: Date | string },
    options: CallOptions = {},
  ): Promise<Stat> {
    const { mode, modified } = change;
    return this.#change({
      operation: "files.chmod",
      path: route(this.place, "fs-chmod", path),
      json: toWire({ mode, modified: timestamp(modified) }),
      repeat: "idempotent",
      ...callOf(options),
    });
  }

  /** Cuts a file, or lengthens it with zeros. */
  async truncate(path: string, size: number, options: CallOptions = {}): Promise<Stat> {
    return this.#change({
      operation: "files.truncate",
      path: route(this.place, "fs-truncate", path),
      json: { size },
      repeat: "idempotent",
      ...callOf(options),
    });
  }

  /**
   * Replaces texts in a file, exactly. Each must be there as often as expected (once, if nothing is
   * said), or nothing changes. What somebody else changes meanwhile is never lost.
   */
  async edit(
    path: string,
    replacements: Replacement | Replacement[],
    options: EditOptions = {},
  ): Promise<EditResult> {
    const { dryRun, encoding } = options;
    const list = Array.isArray(replacements) ? replacements : [replacements];
    return this.#change({
      operation: "files.edit",
      path: route(this.place, "fs-edit", path),
      headers: conditionHeaders(options),
      json: toWire({ replacements: list, dryRun, encoding }),
      repeat: dryRun ? "safe" : repeatOf(options, "never"),
      ...callOf(options),
    });
  }

  /** Many changes, all or none. Sandboxes of kind `host` cannot do that. */
  batch(): Batch {
    return new Batch(this.place);
  }

  /** Unpacks an archive into a directory. One that is broken or leads elsewhere leaves nothing behind. */
  async unpack(
    path: string,
    archive: Content,
    options: ArchiveOptions & { onProgress?: OnProgress | undefined } = {},
  ): Promise<Unpacked> {
    const { signal, timeout, onProgress, format = "tar", ...limits } = options;
    return this.#change({
      operation: "files.unpack",
      path: route(this.place, "fs-archive", path),
      query: toQuery({ format, ...limits }),
      content: archive,
      repeat: "never",
      ...{ signal, timeout, onProgress },
    });
  }

  /**
   * What happens in a directory, for as long as it is walked through. It goes on by itself after a
   * cut, behind what was told last.
   */
  watch(path = "", options: WatchOptions = {}): Watch {
    return new Watch(this.place, path, options);
  }

  /** The files as a snapshot has them. */
  at(snapshot: string): ReadableFiles {
    return new ReadableFiles({ ...this.place, snapshot });
  }

  async #put(
    method: "PUT" | "PATCH",
    path: string,
    content: Content,
    options: WriteOptions,
    ask: Pick<Ask, "operation" | "query" | "headers" | "repeat">,
  ): Promise<Written> {
    const received = await this.place.transport.send({
      ...ask,
      method,
      path: route(this.place, "fs", path),
      headers: { ...ask.headers, ...conditionHeaders(options) },
      content,
      onProgress: options.onProgress,
      ...callOf(options),
    });
    await received.ignored();
    return writtenOf(received);
  }

  async #trip(
    word: "move" | "copy",
    from: string,
    to: string,
    options: CallOptions & { target?: Target },
  ): Promise<Stat> {
    return this.#change({
      operation: `files.${word}`,
      path: `${this.place.address}/fs-${word}`,
      json: toWire({ from, to, target: options.target }),
      repeat: "never",
      ...callOf(options),
    });
  }

  async #change<T>(ask: Omit<Ask, "method" | "repeat"> & { method?: string; repeat: Repeat }) {
    return fromWire<T>(await this.place.transport.json({ method: "POST", ...ask }));
  }
}

function writtenOf(received: Received): Written {
  return {
    version: versionOf(received.header("etag")),
    size: Number(received.header("x-size") ?? Number.NaN),
    created: received.header("x-created") === "1",
  };
}
