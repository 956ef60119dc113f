/** A request as it is sent, however often. */

import { SandkeepError } from "../errors.js";
import { isContent } from "./body.js";
import { careful } from "./progress.js";
import type { Ask } from "./transport.js";

/** A request whose body needs only be sent. */
export interface Ready extends Omit<Ask, "json"> {
  isJson: boolean;
}

/** What is wrong with a request before anybody is asked is not wrong with the line. */
export function readyOf({ json, ...ask }: Ask): Ready {
  const onProgress = careful(ask.onProgress, ask.operation);
  if (json !== undefined) {
    return { ...ask, onProgress, content: jsonOf(json, ask.operation), isJson: true };
  }
  if ("content" in ask && !isContent(ask.content)) {
    const message = `there is no content: ${ask.content} is neither text nor bytes nor a stream`;
    const { operation } = ask;
    throw new SandkeepError(message, { kind: "invalid_argument", operation });
  }
  return { ...ask, onProgress, isJson: false };
}

function jsonOf(value: unknown, operation: string): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    const message = "what is to be sent cannot be written as JSON";
    throw new SandkeepError(message, { kind: "invalid_argument", operation, cause });
  }
}
