/** Lists that are longer than one answer. */

/** Some of the items, and where the next ones begin. */
export interface Page<T> {
  items: T[];
  /** What asks for the next page; absent when there is none. */
  next?: string | undefined;
}

/**
 * A list that is fetched page by page while it is walked through.
 *
 * ```ts
 * for await (const entry of files.list("src", { recursive: true })) console.log(entry.path);
 * const all = await files.list("src").all();
 * ```
 */
export class Paged<T> implements AsyncIterable<T> {
  readonly #fetch: FetchPage<T>;
  readonly #begin: string | undefined;
  readonly #most: number;

  /** @internal */
  constructor(fetch: FetchPage<T>, begin?: string, most = Number.POSITIVE_INFINITY) {
    this.#fetch = fetch;
    this.#begin = begin;
    this.#most = most;
  }

  /** Page by page, for those who keep `next` to go on later. */
  async *pages(): AsyncGenerator<Page<T>, void> {
    let [cursor, left] = [this.#begin, this.#most];
    do {
      const page = await this.#fetch(cursor, left);
      yield page;
      cursor = page.next;
      left -= page.items.length;
    } while (cursor !== undefined && left > 0);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for await (const page of this.pages()) yield* page.items;
  }

  /** Everything at once. */
  async all(): Promise<T[]> {
    const items: T[] = [];
    for await (const item of this) items.push(item);
    return items;
  }
}

/** Fetches the page behind a cursor, with no more items than are still wanted. */
type FetchPage<T> = (cursor: string | undefined, left: number) => Promise<Page<T>>;
