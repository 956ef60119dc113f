/** Text that comes in pieces, taken line by line. */

import { notUnderstood } from "./answer.js";

/** A line that is longer is not what any route sends. */
const LONGEST = 64 * 1024 * 1024;

/** The lines of a body, without their ends; the last one also if nothing ends it. */
export async function* lines(
  pieces: AsyncIterable<Uint8Array>,
  operation: string,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of pieces) {
    const text = decoder.decode(piece, { stream: true });
    let from = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
      yield (rest + text.slice(from, end)).replace(/\r$/, "");
      [rest, from] = ["", end + 1];
    }
    rest += text.slice(from);
    if (rest.length > LONGEST) throw notUnderstood("a line of the answer has no end", operation);
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}

/** The lines of a body, each a JSON value. */
export async function* jsonLines<T>(
  pieces: AsyncIterable<Uint8Array>,
  operation: string,
): AsyncGenerator<T> {
  for await (const line of lines(pieces, operation)) {
    if (line === "") continue;
    try {
      yield JSON.parse(line) as T;
    } catch (cause) {
      throw notUnderstood("a line of the answer is not JSON", operation, cause);
    }
  }
}
