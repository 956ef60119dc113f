/** What a caller believes about a file. */

import type { Repeat } from "../transport/retry.js";
import { tags } from "../wire.js";

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
    "if-unmodified-since": conditions.ifUnmodifiedSince?.toUTCString(),
  };
}

/** What happens when a change with these conditions is made twice. */
export function repeatOf(conditions: Conditions, otherwise: Repeat): Repeat {
  const { ifMatch, ifNoneMatch } = conditions;
  return ifMatch === undefined && ifNoneMatch === undefined ? otherwise : "conditional";
}
