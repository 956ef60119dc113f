/** The server writes `next_cursor`, TypeScript `nextCursor`. */

import { FIELDS_WITH_OWN_KEYS } from "./generated/schemas.js";
import type { Query } from "./transport/address.js";

/** JSON of the server with names as they are here. */
export function fromWire<T>(value: unknown): T {
  return renamed(value, camel) as T;
}

/** JSON for the server with names as they are there; what is undefined is left out. */
export function toWire(value: unknown): unknown {
  return renamed(value, snake);
}

/** The same for what stands behind the `?`. */
export function toQuery(values: Record<string, Query[string]>): Query {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [snake(name), value]));
}

/** Versions as headers have them: quoted, but for the `*` that means any. */
export function tags(versions: string | readonly string[] | undefined): string | undefined {
  if (versions === undefined) return undefined;
  const list = typeof versions === "string" ? [versions] : versions;
  const isReady = (version: string) => version === "*" || version.endsWith('"');
  return list.map((version) => (isReady(version) ? version : `"${version}"`)).join(", ");
}

/** The version that an ETag is. */
export function versionOf(tag: string | undefined): string | undefined {
  return tag?.replace(/^W\//, "").replace(/^"(.*)"$/, "$1");
}

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(
    fields.map(([name, field]) => [
      rename(name),
      FIELDS_WITH_OWN_KEYS.has(name) ? field : renamed(field, rename),
    ]),
  );
}

function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
