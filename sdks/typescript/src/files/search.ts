/** What a search finds, while it is looking. */

import { SandkeepError } from "../errors.js";
import type {
  FoundLine,
  SearchEnd,
  SearchLine,
  SearchRequest,
  Stat,
} from "../generated/schemas.js";
import { notUnderstood } from "../transport/answer.js";
import { jsonLines } from "../transport/lines.js";
import type { CallOptions } from "../transport/transport.js";
import { fromWire, toWire } from "../wire.js";
import { look, type Place, route } from "./place.js";

/** A line that matches, or a name that fits. */
export type Finding = (FoundLine & { type: "line" }) | (Stat & { type: "name" });

const OPERATION = "files.search";

/**
 * A search, which begins when it is walked through. Whoever stops early ends it.
 *
 * ```ts
 * const search = files.search({ pattern: "TODO", glob: "*.ts" });
 * for await (const found of search) console.log(found.path);
 * if (search.end?.truncated) console.log("there may be more:", search.end.reason);
 * ```
 */
export class Search implements AsyncIterable<Finding> {
  /** How it ended; absent as long as it has not. */
  end: SearchEnd | undefined;
  readonly #place: Place;
  readonly #request: SearchRequest & { path?: string };
  readonly #options: CallOptions;

  /** @internal */
  constructor(place: Place, request: SearchRequest & { path?: string }, options: CallOptions) {
    this.#place = place;
    this.#request = request;
    this.#options = options;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Finding, void> {
    const { path = "", ...request } = this.#request;
    const { signal, timeout } = this.#options;
    const ask = look(this.#place, {
      operation: OPERATION,
      method: "POST",
      path: route(this.#place, "fs-search", path),
      json: toWire(request),
      ...{ signal, timeout },
    });
    const received = await this.#place.transport.send(ask);
    for await (const line of jsonLines<unknown>(received.pieces(), OPERATION)) {
      const finding = fromWire<SearchLine>(line);
      if (finding.type === "end") {
        const { type: _, ...end } = finding;
        this.end = end;
      } else yield finding;
    }
    if (this.end === undefined) throw notUnderstood("the search was cut off", OPERATION);
  }

  /** Everything that is found, and how it ended. */
  async all(): Promise<{ found: Finding[]; end: SearchEnd }> {
    const found: Finding[] = [];
    for await (const finding of this) found.push(finding);
    if (this.end !== undefined) return { found, end: this.end };
    throw new SandkeepError("the search did not end", { kind: "not_understood" });
  }
}
