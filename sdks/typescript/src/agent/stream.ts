// The server's stream of messages to one connection, opened again for as long as anybody listens.

import { SandkeepError } from "../errors.js";
import { events, type ServerEvent } from "../transport/events.js";
import { pause } from "../transport/patience.js";
import { pauseBefore } from "../transport/retry.js";
import type { Transport } from "../transport/transport.js";
import { asMessage, type Message } from "./messages.js";

/** What comes of a stream. */
export interface StreamEnds {
  onMessage(message: Message): void;
  /** An event or a heartbeat was heard. */
  onSign(): void;
  /** The server will never let this stream be opened again. */
  onRefused(why: SandkeepError): void;
}

const OPERATION = "events";
/** How long a turn's end waits for the last words of it that are on another line. */
const LONGEST_WAIT = 1_000;
const PAUSES = { firstPause: 150, longestPause: 5_000 };

export class EventStream {
  readonly #transport: Transport;
  readonly #headers: Record<string, string>;
  readonly #silence: number;
  readonly #ends: StreamEnds;
  readonly #waiting = new Set<() => void>();
  #last: number | undefined;

  /** `headers` say whose stream it is; `silence` is how long nothing may come, in milliseconds. */
  constructor(
    transport: Transport,
    headers: Record<string, string>,
    silence: number,
    ends: StreamEnds,
  ) {
    this.#transport = transport;
    this.#headers = headers;
    this.#silence = silence;
    this.#ends = ends;
  }

  /** Listens until the signal says to stop, or the server will not have it; it never rejects. */
  async listen(signal: AbortSignal): Promise<void> {
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      const onSign = () => {
        attempt = 1;
        this.#ends.onSign();
      };
      const error = await this.#once(signal, onSign);
      if (signal.aborted) return;
      if (isFinal(error)) return this.#ends.onRefused(error);
      await pause(pauseBefore(attempt, error, PAUSES), signal);
    }
  }

  /** Waits until an event was heard, and all before it; a while at most. */
  async heard(number: number): Promise<void> {
    const stop = new AbortController();
    const look = () => {
      if ((this.#last ?? 0) >= number) stop.abort();
    };
    this.#waiting.add(look);
    look();
    await pause(LONGEST_WAIT, stop.signal);
    this.#waiting.delete(look);
  }

  /** One stream from its beginning to its end, and why it ended. */
  async #once(signal: AbortSignal, onSign: () => void): Promise<SandkeepError> {
    try {
      const received = await this.#transport.send({
        operation: OPERATION,
        method: "GET",
        path: "/v2/rpc",
        headers: {
          ...this.#headers,
          accept: "text/event-stream",
          "last-event-id": this.#last?.toString(),
        },
        repeat: "never",
        timeout: this.#silence,
        signal,
      });
      for await (const event of events(received.pieces(), OPERATION, onSign)) this.#take(event);
      const message = "the server ended the stream";
      return new SandkeepError(message, { kind: "connection", operation: OPERATION });
    } catch (error) {
      if (error instanceof SandkeepError) return error;
      const message = "the stream failed";
      return new SandkeepError(message, { kind: "connection", operation: OPERATION, cause: error });
    }
  }

  // Ids count up. What was heard before a cut is not heard again, whoever sends it.
  #take({ id, data }: ServerEvent): void {
    const number = id === undefined ? Number.NaN : Number(id);
    if (this.#last !== undefined && number <= this.#last) return;
    const message = parsed(data);
    if (message) this.#ends.onMessage(message);
    if (!Number.isSafeInteger(number)) return;
    this.#last = number;
    for (const look of this.#waiting) look();
  }
}

// A second stream is refused until the server has seen that the first is gone, so that 409 passes.
function isFinal({ status }: SandkeepError): boolean {
  if (status === undefined || status >= 500) return false;
  return ![408, 409, 425, 429].includes(status);
}

function parsed(data: string): Message | undefined {
  try {
    return asMessage(JSON.parse(data));
  } catch {
    return undefined;
  }
}
