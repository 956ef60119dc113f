/** What a caller believes about a file. */

import type { Repeat } from "../transport/retry.js";
import { tags } from "../wire.js";
import { validDate } from "./times.js";

/** Do it only if the file is as expected; fail with `precondition_failed` otherwise. */
export interface Conditions {
  /** It has this version, or one of these; `*` for any. */
  ifMatch?: string | readonly string[] | undefined;
  /** It has none of these versions; `*` if it must not be there. */
  ifNoneMatch?: string | readonly string[] | undefined;
  /** It has not changed since. */
  ifUnmodifiedSince?: Date | undefined;
}

/** The headers that say so. */
export function conditionHeaders(conditions: Conditions): Record<string, string | undefined> {
  return {
    "if-match": tags(conditions.ifMatch),
    "if-none-match": tags(conditions.ifNoneMatch),
    "if-unmodified-since": validDate(conditions.ifUnmodifiedSince)?.toUTCString(),
  };
}

/**
 * What happens when a change with these conditions is made twice. It is refused the second time if it
 * is made to a version that it leaves behind, or only where nothing is. What must merely be there, or
 * be another version, still is so.
 */
export function repeatOf(conditions: Conditions, otherwise: Repeat): Repeat {
  const [match, noneMatch] = [listOf(conditions.ifMatch), listOf(conditions.ifNoneMatch)];
  const isOnce = (match.length > 0 && !match.includes("*")) || noneMatch.includes("*");
  return isOnce ? "conditional" : otherwise;
}

function listOf(versions: string | readonly string[] = []): readonly string[] {
  return typeof versions === "string" ? [versions] : versions;
}
