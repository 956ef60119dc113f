/** What happens in a directory, as it happens, over as many connections as that takes. */

import { SandkeepError } from "../errors.js";
import type { EntryKind, NoticeData } from "../generated/schemas.js";
import { notUnderstood } from "../transport/answer.js";
import { events, type ServerEvent } from "../transport/events.js";
import { pause } from "../transport/patience.js";
import type { Received } from "../transport/received.js";
import { fromWire } from "../wire.js";
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
/** How long to wait before coming back the first time, and at most. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [100, 5_000];

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
    try {
      let received = await this.#connect();
      while (true) {
        yield* this.#told(received);
        received = await this.#comeBack();
      }
    } catch (error) {
      if (!this.#options.signal?.aborted) throw error;
    }
  }

  /** What one connection tells, until it is cut. */
  async *#told(received: Received): AsyncGenerator<Notice, void> {
    // Whoever comes back hears `here` before what he missed: to him it says nothing.
    let isNews = this.#cursor === undefined;
    try {
      for await (const event of events(received.pieces(), OPERATION)) {
        const notice = noticeOf(event);
        this.#cursor = notice.cursor;
        if (isNews || notice.change !== "here") yield notice;
        isNews = true;
      }
    } catch (error) {
      if (!mayPass(error)) throw error;
    }
  }

  /** Comes back behind what was told last, again and again while there is hope. */
  async #comeBack(): Promise<Received> {
    const { patience = USUAL_PATIENCE, signal, onPresence } = this.#options;
    const end = Date.now() + patience;
    let isAway = false;
    for (let wait = FIRST_PAUSE; ; wait = Math.min(wait * 2, LONGEST_PAUSE)) {
      await pause(wait, signal);
      try {
        const received = await this.#connect();
        if (isAway) onPresence?.("back");
        return received;
      } catch (error) {
        if (!mayPass(error) || Date.now() > end) throw error;
        if (!isAway) onPresence?.("away");
        isAway = true;
      }
    }
  }

  #connect(): Promise<Received> {
    const { recursive, signal } = this.#options;
    return this.#place.transport.send({
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

/** Whether a server that fails like this may do better in a moment: it is restarted, or busy. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof SandkeepError)) return false;
  return ["connection", "timeout", "busy", "unavailable", "io"].includes(error.kind);
}
