/** Bytes where a tool's arguments and results have text. */

import { SandkeepError } from "../errors.js";
import { base64 } from "../files/base64.js";
import { isBase64, isUtf8 } from "./encodings.js";

/** Content as programs have it: text, or bytes that are sent as they are. */
export type ToolContent = string | ArrayBufferView | ArrayBuffer;

/** Arguments whose `content`, also that of steps, is text: bytes become base64. */
export function withText(args: unknown): unknown {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return args;
  const given = args as Record<string, unknown>;
  const { content, encoding, steps } = given;
  if (Array.isArray(steps)) return { ...given, steps: steps.map(withText) };
  const bytes = asBytes(content);
  if (bytes === undefined) return args;
  if (
    encoding !== undefined &&
    encoding !== null &&
    !(typeof encoding === "string" && isBase64(encoding))
  ) {
    throw new SandkeepError("`encoding` says how text becomes bytes, and `content` is bytes", {
      kind: "invalid_argument",
      hint: "leave `encoding` out, or give `content` as text",
    });
  }
  return { ...given, content: base64(bytes), encoding: "base64" };
}

/**
 * How many bytes content stands for, as far as that can be told without the server: not for text in
 * other encodings than UTF-8. What is no base64 is refused by the server.
 */
export function lengthOf(content: string, encoding: string | null | undefined): number | undefined {
  if (isUtf8(encoding)) return new TextEncoder().encode(content).byteLength;
  if (!isBase64(encoding)) return undefined;
  const letters = content.replace(/[\s=]+/g, "").length;
  return Math.floor((letters * 3) / 4);
}

/** The bytes of content that is no text. */
function asBytes(content: unknown): Uint8Array | undefined {
  if (content instanceof ArrayBuffer) return new Uint8Array(content);
  if (!ArrayBuffer.isView(content)) return undefined;
  return new Uint8Array(content.buffer, content.byteOffset, content.byteLength);
}
