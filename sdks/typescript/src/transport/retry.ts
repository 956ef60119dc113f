/** What may be asked again when it failed, and when. */

import { SandkeepError } from "../errors.js";

/**
 * What happens when a request is made twice:
 *
 * - `safe`: nothing; it only looks
 * - `idempotent`: the same as once
 * - `conditional`: the second time is refused if the first one happened
 * - `never`: perhaps twice as much, so that only a request that surely was not begun is repeated
 */
export type Repeat = "safe" | "idempotent" | "conditional" | "never";

/** How often and how patiently. */
export interface RetryOptions {
  /** How often a request is made again at most [default: 3]; 0 for never. */
  retries?: number;
  /** How long the first pause is at most, in milliseconds; each next is up to twice as long [default: 200]. */
  firstPause?: number;
  /**
   * How long any pause is at most, in milliseconds [default: 10,000]. A server that asks for a longer
   * one is not asked again: the failure has it as `retryAfter`.
   */
  longestPause?: number;
}

const LONGEST_PAUSE = 10_000;
/** What may be otherwise in a while. */
const PASSING = ["connection", "timeout", "busy", "unavailable", "io", "too_many_requests"];
/** What a server says of a change that was made already. `/v1/fs` has it as 400. */
const DONE_BEFORE = [404, 409, 412];
const DONE_BEFORE_KINDS = [
  ...["not_found", "sandbox_not_found", "already_exists", "conflict", "precondition_failed"],
];

/** How often a request is made again, if nobody says otherwise. */
const USUAL_RETRIES = 3;

/** The tries of one request. */
export class Tries {
  readonly #repeat: Repeat;
  readonly #options: RetryOptions;
  #left: number;
  #made = 0;
  #mayHaveHappened = false;

  /** What can be sent only once is not tried again. */
  constructor(repeat: Repeat, options: RetryOptions = {}, canBeSentAgain = true) {
    this.#repeat = repeat;
    this.#options = options;
    this.#left = canBeSentAgain ? (options.retries ?? USUAL_RETRIES) : 0;
  }

  /** How many milliseconds to wait before the next try. If there is none, throws why. */
  pauseAfter(error: unknown): number {
    if (!(error instanceof SandkeepError)) throw error;
    this.#made += 1;
    this.#left -= 1;
    const isLast = this.#left < 0 || asksForMore(error, this.#options);
    if (isLast || !mayRepeat(error, this.#repeat)) {
      throw this.#mayHaveHappened && this.#repeat === "conditional" ? inDoubt(error) : error;
    }
    this.#mayHaveHappened ||= isAmbiguous(error);
    return pauseBefore(this.#made, error, this.#options);
  }
}

/** Whether a request that failed like this may be made again. */
function mayRepeat(error: SandkeepError, repeat: Repeat): boolean {
  if (wasNotBegun(error)) return true;
  if (repeat === "never" || !mayPass(error)) return false;
  // Somebody else may have changed meanwhile what would be overwritten by a repetition.
  return error.kind !== "in_doubt" || repeat !== "idempotent";
}

/** Whether nobody knows if the request was carried out. */
function isAmbiguous(error: SandkeepError): boolean {
  return !wasNotBegun(error) && mayPass(error);
}

/** How many milliseconds to wait: as long as the server says, or else a random part of more each time. */
export function pauseBefore(attempt: number, error: SandkeepError, options: RetryOptions): number {
  const { firstPause = 200, longestPause = LONGEST_PAUSE } = options;
  if (error.retryAfter !== undefined) return error.retryAfter * 1000;
  const most = Math.min(firstPause * 2 ** (attempt - 1), longestPause);
  return most / 2 + (Math.random() * most) / 2;
}

/** Whether the server asks for a longer pause than the caller would make. */
function asksForMore(error: SandkeepError, options: RetryOptions): boolean {
  return (error.retryAfter ?? 0) * 1000 > (options.longestPause ?? LONGEST_PAUSE);
}

/** Whether a server that fails like this may do better in a while: it is restarted, or busy. */
export function mayPassInTime(error: unknown): error is SandkeepError {
  return error instanceof SandkeepError && PASSING.includes(error.kind);
}

/** A condition that fails when a request is repeated may fail because the first one succeeded. */
function inDoubt(error: SandkeepError): SandkeepError {
  const isStatus = DONE_BEFORE.includes(error.status ?? 0);
  if (!isStatus && !DONE_BEFORE_KINDS.includes(error.kind)) return error;
  const { operation, path, requestId, status } = error;
  const message = `${error.message}; an earlier try may have succeeded, whose answer got lost`;
  const hint = "look at what is there before you repeat it";
  return new SandkeepError(message, {
    kind: "in_doubt",
    ...{ hint, operation, path, requestId, status, cause: error },
  });
}

/** The server refused before it looked, or says itself that asking again is safe. */
function wasNotBegun(error: SandkeepError): boolean {
  if (error.status === 429) return true;
  return error.status === 503 && error.retryAfter !== undefined && error.kind !== "in_doubt";
}

function mayPass(error: SandkeepError): boolean {
  if (error.status === undefined) return error.kind === "connection";
  return [502, 503, 504].includes(error.status);
}
