/** Everything that looks at files and changes none. */

import { SandkeepError } from "../errors.js";
import type { Link, ListedEntry, ListingPage, SearchRequest, Stat } from "../generated/schemas.js";
import { Paged } from "../paged.js";
import { notUnderstood } from "../transport/answer.js";
import type { OnProgress } from "../transport/progress.js";
import type { CallOptions } from "../transport/transport.js";
import { fromWire, tags, toQuery } from "../wire.js";
import { ReadFile } from "./file.js";
import { look, type Place, route } from "./place.js";
import { Search } from "./search.js";

/**
 * Which bytes: those from `start` up to `end`, as `slice` has them; or the `last` ones. A part that
 * begins behind the end of the file is refused with `range_not_satisfiable`.
 */
export type Range = { start: number; end?: number } | { last: number };

/** How a file is read. */
export interface ReadOptions extends CallOptions {
  /** Only these bytes. */
  range?: Range | undefined;
  /** Only if it has this version. */
  ifMatch?: string | readonly string[] | undefined;
  /** Told how much has come. */
  onProgress?: OnProgress | undefined;
}

/** How a file is asked for. */
export interface GetOptions extends ReadOptions {
  /** Without bytes if it has this version: `notModified` says so. */
  ifNoneMatch?: string | readonly string[] | undefined;
}

/** An entry of a listing. */
export interface Entry extends ListedEntry {
  /** Where it is, from the root of the sandbox on. */
  path: string;
}

/** What is listed. */
export interface ListOptions extends CallOptions {
  /** Whether what lies deeper is listed too. */
  recursive?: boolean | undefined;
  /** How many levels of a recursive listing. */
  depth?: number | undefined;
  /** A glob that names must fit, or paths if it has a slash. */
  glob?: string | undefined;
  /** Only entries of this kind. */
  kind?: ListedEntry["kind"] | undefined;
  /**
   * By what they are sorted [default: name]. The server sorts at most 10,000 entries by anything else,
   * or backwards: whoever has more says how many are wanted, as `limit`.
   */
  sort?: "name" | "size" | "modified" | undefined;
  order?: "asc" | "desc" | undefined;
  /** Whether each entry comes with all that `stat` tells. */
  details?: boolean | undefined;
  /** At most so many entries in all. */
  limit?: number | undefined;
  /** How many entries are fetched at once [default: 1,000]. */
  pageSize?: number | undefined;
  /** Where an earlier page ended: its `next`. */
  cursor?: string | undefined;
}

/** How an archive is written. */
export type ArchiveFormat = "tar" | "tar.gz" | "tar.zst" | "zip";

/** How much an archive may hold. */
export interface ArchiveOptions extends CallOptions {
  /** [default: tar] */
  format?: ArchiveFormat | undefined;
  /** At most so many bytes of content. */
  maxBytes?: number | undefined;
  /** At most so many members. */
  maxEntries?: number | undefined;
  /** At most so many names in a member's path. */
  maxDepth?: number | undefined;
}

const USUAL_PAGE = 1000;

/** Files that are looked at: those of a sandbox, or of one of its snapshots. */
export class ReadableFiles {
  protected readonly place: Place;

  /** @internal */
  constructor(place: Place) {
    this.place = place;
  }

  /** A file with its version and length; its bytes when they are asked for. */
  async get(path: string, options: GetOptions = {}): Promise<ReadFile> {
    const { range, ifMatch, ifNoneMatch, onProgress, signal, timeout } = options;
    const operation = "files.get";
    const ask = look(this.place, {
      operation,
      path: route(this.place, "fs", path),
      headers: {
        range: rangeHeader(range),
        "if-match": tags(ifMatch),
        "if-none-match": tags(ifNoneMatch),
      },
      alsoFine: [304],
      ...{ signal, timeout },
    });
    const received = await this.place.transport.send(ask);
    if (range !== undefined && received.status === 200) {
      received.cancel();
      throw notUnderstood("all of the file was sent in place of a part", operation);
    }
    return new ReadFile(path, received, { onProgress });
  }

  /** The bytes of a file. */
  async read(path: string, options: ReadOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    return (await this.get(path, options)).bytes();
  }

  /** A file as UTF-8. */
  async readText(path: string, options: ReadOptions = {}): Promise<string> {
    return (await this.get(path, options)).text();
  }

  /** The JSON that a file holds. */
  async readJson<T = unknown>(path: string, options: ReadOptions = {}): Promise<T> {
    return (await this.get(path, options)).json<T>();
  }

  /** The bytes of a file as they come. */
  async readStream(path: string, options: ReadOptions = {}): Promise<ReadableStream<Uint8Array>> {
    return (await this.get(path, options)).stream();
  }

  /** What a file is, as the head of a read has it: version, length and time. */
  async head(path: string, options: CallOptions = {}): Promise<ReadFile> {
    const operation = "files.head";
    const ask = look(this.place, {
      ...{ operation, path: route(this.place, "fs", path) },
      ...callOf(options),
    });
    const { transport } = this.place;
    const received = await transport.send({ ...ask, method: "HEAD" }).catch((error) => {
      // The head of a refusal does not say what is refused; a whole one does.
      if (!(error instanceof SandkeepError) || !isRefusal(error.status)) throw error;
      return transport.send(ask);
    });
    return new ReadFile(path, received, { isHead: true });
  }

  /** What is at a path. `follow: false` looks at a link itself. */
  async stat(path: string, options: CallOptions & { follow?: boolean } = {}): Promise<Stat> {
    const ask = look(this.place, {
      operation: "files.stat",
      path: route(this.place, "fs-stat", path),
      query: { follow: options.follow },
      ...callOf(options),
    });
    return fromWire<Stat>(await this.place.transport.json(ask));
  }

  /** Whether anything is at a path. */
  async exists(path: string, options: CallOptions & { follow?: boolean } = {}): Promise<boolean> {
    try {
      await this.stat(path, options);
      return true;
    } catch (error) {
      // Beneath a file there is nothing.
      const isAbsent =
        error instanceof SandkeepError && ["not_found", "not_a_directory"].includes(error.kind);
      if (isAbsent) return false;
      throw error;
    }
  }

  /** What a directory holds, sorted by name; the root without a path. Links are listed themselves. */
  list(path = "", options: ListOptions = {}): Paged<Entry> {
    const { signal, timeout, limit, pageSize = USUAL_PAGE, cursor: begin, ...wish } = options;
    const isByName = (wish.sort ?? "name") === "name" && wish.order !== "desc";
    const fetch = async (cursor: string | undefined, left: number) => {
      const ask = look(this.place, {
        operation: "files.list",
        path: route(this.place, "fs-list", path),
        // A cursor goes on in the order of the names alone; in any other there is one page.
        query: toQuery({ ...wish, limit: isByName ? Math.min(pageSize, left) : limit, cursor }),
        ...{ signal, timeout },
      });
      const page = fromWire<ListingPage>(await this.place.transport.json(ask));
      if (!isByName && page.truncated && limit === undefined) throw tooManyToSort(path);
      return { items: page.entries.map((entry) => entryIn(path, entry)), next: page.nextCursor };
    };
    return new Paged(fetch, begin, limit);
  }

  /** Where a symbolic link leads, as it is written in it. */
  async readLink(path: string, options: CallOptions = {}): Promise<string> {
    const ask = look(this.place, {
      operation: "files.readLink",
      path: route(this.place, "fs-link", path),
      ...callOf(options),
    });
    return fromWire<Link>(await this.place.transport.json(ask)).target;
  }

  /** Lines in files, or names: one after the other, as they are found. */
  search(request: SearchRequest & { path?: string }, options: CallOptions = {}): Search {
    return new Search(this.place, request, options);
  }

  /** A tree, or one file, as an archive that is written while it is read. */
  async pack(path = "", options: ArchiveOptions = {}): Promise<ReadableStream<Uint8Array>> {
    const { signal, timeout, ...wish } = options;
    const ask = look(this.place, {
      operation: "files.pack",
      path: route(this.place, "fs-archive", path),
      query: toQuery(wish),
      ...{ signal, timeout },
    });
    return (await this.place.transport.send(ask)).stream();
  }
}

/** What is meant for the transport among the options of a call. */
export function callOf({ signal, timeout }: CallOptions): CallOptions {
  return { signal, timeout };
}

function isRefusal(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && status !== 429;
}

function rangeHeader(range: Range | undefined): string | undefined {
  if (range === undefined) return undefined;
  if ("last" in range) {
    checked(Number.isSafeInteger(range.last) && range.last > 0, "`last` is a number of bytes");
    return `bytes=-${range.last}`;
  }
  const { start, end } = range;
  checked(Number.isSafeInteger(start) && start >= 0, "`start` is where the first byte is");
  if (end === undefined) return `bytes=${start}-`;
  checked(Number.isSafeInteger(end) && end > start, "`end` lies behind `start`");
  return `bytes=${start}-${end - 1}`;
}

function checked(isFine: boolean, message: string): void {
  if (isFine) return;
  throw new SandkeepError(`the range cannot be: ${message}`, { kind: "invalid_argument" });
}

function entryIn(directory: string, entry: ListedEntry): Entry {
  const names = directory.split("/").filter((name) => name !== "" && name !== ".");
  return { ...entry, path: [...names, entry.path ?? entry.name].join("/") };
}

function tooManyToSort(path: string): SandkeepError {
  return new SandkeepError("there are more entries than the server sorts at once", {
    kind: "limit_exceeded",
    hint: "say how many you want as `limit`, or let them be sorted by name",
    operation: "files.list",
    path,
  });
}
