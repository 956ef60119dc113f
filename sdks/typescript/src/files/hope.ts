/** For how long somebody comes back who hears nothing. */

import type { SandkeepError } from "../errors.js";
import { pause } from "../transport/patience.js";

/** How long to wait before coming back the first time, and at most. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [100, 5_000];

/** Hope for a server that is away: less with each try, all of it again with each sign of life. */
export class Hope {
  readonly #patience: number;
  #wait = FIRST_PAUSE;
  #end: number | undefined;

  /** `patience` is for how many milliseconds there may be no sign. */
  constructor(patience: number) {
    this.#patience = patience;
  }

  /** Somebody is there. */
  renew(): void {
    this.#wait = FIRST_PAUSE;
    this.#end = undefined;
  }

  /** Waits before the next try, as long as the server says; throws `why` if it is no use. */
  async afterLoss(why: SandkeepError, signal: AbortSignal | undefined): Promise<void> {
    this.#end ??= Date.now() + this.#patience;
    const left = this.#end - Date.now();
    const asked = (why.retryAfter ?? 0) * 1000;
    if (left <= 0 || asked > left) throw why;
    await pause(Math.max(asked, Math.min(this.#wait, left)), signal);
    this.#wait = Math.min(this.#wait * 2, LONGEST_PAUSE);
  }
}
