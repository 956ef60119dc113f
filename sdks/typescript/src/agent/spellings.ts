// Programs of both habits read the same results: every key in camelCase is there in snake_case too.

import { SandkeepError } from "../errors.js";

type Snake<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Text;

/** `T`, and beside each of its keys the same value under the key in snake_case. */
export type BothSpellings<T> = T & { [Key in keyof T & string as Snake<Key>]: T[Key] };

/** Adds the second spelling to the keys of one object; what it holds is left as it is. */
export function bothSpellings<T extends object>(value: T): BothSpellings<T> {
  const both: Record<string, unknown> = {};
  for (const [key, held] of Object.entries(value)) {
    both[key] = held;
    both[key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = held;
  }
  return both as BothSpellings<T>;
}

/** How callers name a session: by either spelling, or by both if they agree. */
export interface SessionQuery {
  sessionId?: string | null;
  session_id?: string | null;
}

/** The one spelling that is ever sent, so that no server can find the same name twice. */
export function sessionOf(query: SessionQuery | undefined): { sessionId?: string } {
  const { sessionId, session_id } = query ?? {};
  if (sessionId != null && session_id != null && sessionId !== session_id) {
    throw new SandkeepError(`sessionId is ${sessionId}, but session_id is ${session_id}`, {
      kind: "invalid_argument",
      hint: "name the session once",
    });
  }
  const named = sessionId ?? session_id;
  return named == null ? {} : { sessionId: named };
}
