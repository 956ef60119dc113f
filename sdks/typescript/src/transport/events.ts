/** Server-sent events, as the HTML standard has them. */

import { lines } from "./lines.js";

/** One event of a stream. */
export interface ServerEvent {
  /** What to come back with after a cut: the last id that the stream had, this event's or an earlier one's. */
  id: string | undefined;
  event: string;
  data: string;
}

/**
 * The events of a body. Half an event at its end is none: it comes again. `onSign` is told of each
 * whole event and of each heartbeat: somebody is there.
 */
export async function* events(
  pieces: AsyncIterable<Uint8Array>,
  operation: string,
  onSign: () => void = () => {},
): AsyncGenerator<ServerEvent> {
  let [id, event, data]: [string | undefined, string, string[]] = [undefined, "", []];
  for await (const line of lines(pieces, operation)) {
    if (line.startsWith(":") || (line === "" && data.length > 0)) onSign();
    if (line === "") {
      if (data.length > 0) yield { id, event: event || "message", data: data.join("\n") };
      [event, data] = ["", []];
      continue;
    }
    // A line that begins with a colon has no field: it is a heartbeat.
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id" && !value.includes("\0")) id = value;
    else if (field === "event") event = value;
    else if (field === "data") data.push(value);
  }
}
