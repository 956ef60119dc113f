/** When a call ends whose caller gave up, or whose time is up. */

import { SandkeepError } from "../errors.js";
import type { ToolContext } from "./base.js";

/** The server ends a call in time and says so; whoever hears nothing by then waits no longer. */
const GRACE = 1000;

/** The end of one call. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #timeout: number | undefined;
  readonly #giveUp = () => this.#controller.abort(this.#caller?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isLate = false;

  constructor(timeout: number | undefined, caller: AbortSignal | undefined) {
    this.#caller = caller;
    this.#timeout = timeout;
    if (caller?.aborted) this.#giveUp();
    else caller?.addEventListener("abort", this.#giveUp, { once: true });
    if (timeout === undefined) return;
    this.#timer = setTimeout(() => {
      this.#isLate = true;
      this.#controller.abort();
    }, lastMoment(timeout));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#giveUp);
  }

  /** Why a call failed. */
  explain(error: unknown, onlyLooks: boolean): unknown {
    return this.#isLate ? tooSlow(this.#timeout ?? 0, onlyLooks, error) : error;
  }
}

/** After how many milliseconds a call is given up that may take `timeout`. No timer counts further. */
export function lastMoment(timeout: number): number {
  return Math.min(timeout + GRACE, 2 ** 31 - 1);
}

/** A call of which nothing was heard in time. */
export function tooSlow(timeout: number, onlyLooks: boolean, cause?: unknown): SandkeepError {
  const message = `the server did not answer in the ${timeout} ms that the call may take`;
  const hint = onlyLooks
    ? "ask for less at once, or allow more time"
    : "look whether it happened before you repeat it";
  return new SandkeepError(message, { kind: "timeout", hint, cause });
}

/** The signal that a context has, whatever else it is, and of whatever realm. */
export function signalOf(context: object | undefined): AbortSignal | undefined {
  const { signal, abortSignal } = (context ?? {}) as ToolContext;
  return [signal, abortSignal].find((one) => typeof one?.addEventListener === "function");
}
