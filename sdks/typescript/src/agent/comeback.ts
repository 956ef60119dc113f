// Coming back to a server that has forgotten the client, again and again, but never in a hurry.

import type { SandkeepError } from "../errors.js";
import { pause } from "../transport/patience.js";
import { mayPassInTime, pauseBefore } from "../transport/retry.js";

const PAUSES = { firstPause: 150, longestPause: 5_000 };

export class Comeback {
  /** How often in a row, without a sign of life between. */
  #losses = 0;
  #waiting: AbortController | undefined;

  /** Somebody is there: the next loss is the first. */
  renew(): void {
    this.#losses = 0;
  }

  /** Opens after a pause, and once more after each failure that may pass; it never rejects. */
  async begin(lost: SandkeepError, open: () => Promise<unknown>): Promise<void> {
    if (this.#waiting) return;
    const waiting = new AbortController();
    this.#waiting = waiting;
    let why: SandkeepError | undefined = lost;
    while (why) {
      this.#losses += 1;
      await pause(pauseBefore(this.#losses, why, PAUSES), waiting.signal);
      if (waiting.signal.aborted) return;
      why = await open().then(
        () => undefined,
        (error: unknown) => (mayPassInTime(error) ? error : undefined),
      );
    }
    if (this.#waiting === waiting) this.#waiting = undefined;
  }

  /** Nobody wants to come back any more. */
  stop(): void {
    this.#waiting?.abort();
    this.#waiting = undefined;
  }
}
