/** What may be asked again when it failed, and when. */

import type { SandkeepError } from "../errors.js";

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
  /** How long any pause is at most, whatever the server asks for, in milliseconds [default: 10,000]. */
  longestPause?: number;
}

/** Whether a request that failed like this may be made again. */
export function mayRepeat(error: SandkeepError, repeat: Repeat): boolean {
  if (wasNotBegun(error)) return true;
  if (repeat === "never" || !mayPass(error)) return false;
  // Somebody else may have changed meanwhile what would be overwritten by a repetition.
  return error.kind !== "in_doubt" || repeat !== "idempotent";
}

/** Whether nobody knows if the request was carried out. */
export function isAmbiguous(error: SandkeepError): boolean {
  return !wasNotBegun(error) && mayPass(error);
}

/** How many milliseconds to wait: as long as the server says, or else a random part of more each time. */
export function pauseBefore(attempt: number, error: SandkeepError, options: RetryOptions): number {
  const { firstPause = 200, longestPause = 10_000 } = options;
  if (error.retryAfter !== undefined) return Math.min(error.retryAfter * 1000, longestPause);
  const most = Math.min(firstPause * 2 ** (attempt - 1), longestPause);
  return most / 2 + (Math.random() * most) / 2;
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
