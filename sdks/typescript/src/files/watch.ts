/** What happens in a directory, as it happens, over as many connections as that takes. */

import { SandkeepError } from "../errors.js";
import type { EntryKind, NoticeData } from "../generated/schemas.js";
import { notUnderstood } from "../transport/answer.js";
import { events, type ServerEvent } from "../transport/events.js";
import type { Received } from "../transport/received.js";
import { mayPassInTime } from "../transport/retry.js";
import { fromWire } from "../wire.js";
import { Hope } from "./hope.js";
import { type Place, route } from "./place.js";

/** Something that happened. `cursor` is where a later watch goes on behind it. */
export type Notice = { cursor: string } & (
  | { change: "here" }
  | { change: "created" | "modified" | "removed"; path: string; kind?: EntryKind }
  | { change: "renamed"; from: string; path: string; kind?: EntryKind }
  | { change: "resync"; reason: string }
);

/** What is watched. */
export interface WatchOptions {
  /** Whether everything beneath the directory is meant [default: true]. */
  recursive?: boolean | undefined;
  /** Begin behind the notice with this cursor; now without it. */
  cursor?: string | undefined;
  /** Ends the watch, without an error. */
  signal?: AbortSignal | undefined;
  /** For how many milliseconds the server may be away before the watch fails [default: 60,000]. */
  patience?: number | undefined;
  /** Told when the server is away, and when it is back. A line that is merely cut is not worth a word. */
  onPresence?: ((presence: "away" | "back") => void) | undefined;
}

const OPERATION = "files.watch";
/** Three heartbeats of the server: whoever is silent for so long is gone. */
const SILENCE = 45_000;
const USUAL_PATIENCE = 60_000;

/**
 * A watch, which begins when it is walked through.
 *
 * The first notice is `here`: from now on everything is told, so that this is the time to list. A
 * `resync` says that it is not known what happened, and to list anew. A change may be told twice,
 * and several as one.
 */
export class Watch implements AsyncIterable<Notice> {
  readonly #place: Place;
  readonly #path: string;
  readonly #options: WatchOptions;
  #cursor: string | undefined;

  /** @internal */
  constructor(place: Place, path: string, options: WatchOptions) {
    this.#place = place;
    this.#path = path;
    this.#options = options;
    this.#cursor = options.cursor;
  }

  /** Behind which notice it goes on: the last one that was taken. */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Notice, void> {
    const hope = new Hope(this.#options.patience ?? USUAL_PATIENCE);
    try {
      let received = await this.#connect();
      while (true) {
        const why = yield* this.#told(received, hope);
        received = await this.#comeBack(why, hope);
      }
    } catch (error) {
      if (!this.#options.signal?.aborted) throw error;
    }
  }

  /** What one connection tells, until it is cut, and why that was. */
  async *#told(received: Received, hope: Hope): AsyncGenerator<Notice, SandkeepError> {
    // Whoever comes back hears `here` before what he missed: to him it says nothing.
    let isNews = this.#cursor === undefined;
    try {
      for await (const event of events(received.pieces(), OPERATION, () => hope.renew())) {
        const notice = noticeOf(event);
        this.#cursor = notice.cursor;
        if (isNews || notice.change !== "here") yield notice;
        isNews = true;
      }
      const message = "the server ended the watch";
      return new SandkeepError(message, { kind: "connection", operation: OPERATION });
    } catch (error) {
      if (!mayPassInTime(error)) throw error;
      return error;
    }
  }

  /** Comes back behind what was told last, again and again while there is hope. */
  async #comeBack(lost: SandkeepError, hope: Hope): Promise<Received> {
    const { signal, onPresence } = this.#options;
    let isAway = false;
    for (let why = lost; ; ) {
      await hope.afterLoss(why, signal);
      try {
        const received = await this.#connect();
        if (isAway) onPresence?.("back");
        return received;
      } catch (error) {
        if (!mayPassInTime(error)) throw error;
        why = error;
        if (!isAway) onPresence?.("away");
        isAway = true;
      }
    }
  }

  async #connect(): Promise<Received> {
    const { recursive, signal } = this.#options;
    const received = await this.#place.transport.send({
      operation: OPERATION,
      method: "GET",
      path: route(this.#place, "fs-watch", this.#path),
      // As a parameter: a page may not send the header `Last-Event-ID` everywhere.
      query: { recursive, cursor: this.#cursor },
      headers: { accept: "text/event-stream" },
      repeat: "safe",
      timeout: SILENCE,
      signal,
    });
    if (received.header("content-type")?.startsWith("text/event-stream")) return received;
    received.cancel();
    throw notUnderstood("the answer is not a stream of events", OPERATION);
  }
}

function noticeOf(event: ServerEvent): Notice {
  if (event.id === undefined) throw notUnderstood("an event has no cursor", OPERATION);
  try {
    return { ...fromWire<NoticeData>(JSON.parse(event.data)), cursor: event.id } as Notice;
  } catch (cause) {
    throw notUnderstood("an event is not JSON", OPERATION, cause);
  }
}
