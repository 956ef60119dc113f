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
  readonly #fetch: (cursor: string | undefined) => Promise<Page<T>>;
  readonly #begin: string | undefined;

  /** @internal */
  constructor(fetch: (cursor: string | undefined) => Promise<Page<T>>, begin?: string) {
    this.#fetch = fetch;
    this.#begin = begin;
  }

  /** Page by page, for those who keep `next` to go on later. */
  async *pages(): AsyncGenerator<Page<T>, void> {
    let cursor = this.#begin;
    do {
      const page = await this.#fetch(cursor);
      yield page;
      cursor = page.next;
    } while (cursor !== undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for await (const page of this.pages()) yield* page.items;
  }

  /** Everything at once. */
  async all(): Promise<T[]> {
    const items: T[] = [];
    for await (const page of this.pages()) items.push(...page.items);
    return items;
  }
}
