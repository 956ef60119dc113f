/** What the fields of arguments are made of: more is checked than a JSON Schema can say. */

import { z } from "zod/v4";
import { isEncoding, isTextEncoding } from "./encodings.js";

/** The longest path, in bytes of UTF-8. */
const LONGEST_PATH = 4096;

/** A text that every encoding can begin with: half of a surrogate pair stands for no character. */
export const text = z.string().refine(isWellFormed, {
  error: "holds half of a surrogate pair, which is no character",
});

/** A path in the sandbox, as the sandbox sees it. */
export const path = z.string().check(({ value, issues }) => {
  const wrong = whatIsWrong(value);
  if (wrong !== undefined) issues.push({ code: "custom", input: value, message: wrong });
});

/** How content stands for bytes. */
export const encoding = z.string().refine(isEncoding, {
  error: ({ input }) => `there is no encoding ${JSON.stringify(input)}`,
});

/** How the bytes of a text are to be read, where base64 would make no sense. */
export const textEncoding = z.string().refine(isTextEncoding, {
  error: ({ input }) => `there is no encoding of text ${JSON.stringify(input)}`,
});

/** A number of things. */
export const count = z.int().min(0);

function whatIsWrong(path: string): string | undefined {
  if (path === "") return "is empty (`.` is the directory where relative paths begin)";
  if (path.includes("\0")) return "holds a NUL";
  if (!isWellFormed(path)) return "holds half of a surrogate pair, which is no character";
  const bytes = new TextEncoder().encode(path).byteLength;
  if (bytes > LONGEST_PATH) return `has ${bytes} bytes, and ${LONGEST_PATH} are allowed`;
  return undefined;
}

/** Whether every surrogate is half of a pair. Not every runtime can tell by itself. */
function isWellFormed(text: string): boolean {
  const able = text as string & { isWellFormed?(): boolean };
  return able.isWellFormed?.() ?? !/\p{Surrogate}/u.test(text);
}
