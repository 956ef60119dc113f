/** Times that callers give. */

import { SandkeepError } from "../errors.js";

/** A time as the contract writes it. */
export function timestamp(time: Date | string | undefined): string | undefined {
  return time instanceof Date ? validDate(time)?.toISOString() : time;
}

/** Dates can be made of anything, also of what is none. */
export function validDate(date: Date | undefined): Date | undefined {
  if (date === undefined || !Number.isNaN(date.getTime())) return date;
  throw new SandkeepError("the date is not valid", { kind: "invalid_argument" });
}
