/** What is known of each tool before it is used. */

import type { z } from "zod/v4";
import { DEFINITIONS, type ReadFileData } from "../generated/tools.js";
import type { Repeat } from "../transport/retry.js";
import type { ToolContent } from "./content.js";

/** What tools are called here: `readFile` is the server's `read_file`. */
export type ToolKey = keyof typeof DEFINITIONS;

/** What is known of a tool. */
export type Definition<K extends ToolKey> = (typeof DEFINITIONS)[K];

/** What a tool takes. Where models write text, programs may give bytes. */
export type ArgumentsOf<K extends ToolKey> = WithBytes<z.input<Definition<K>["parameters"]>>;

/** What a tool gives. */
export type DataOf<K extends ToolKey> = z.output<Definition<K>["data"]>;

/** What `read_file` gives to those who want bytes. */
export type ReadFileBytes = Omit<ReadFileData, "content" | "encoding"> & {
  content: Uint8Array<ArrayBuffer>;
  encoding: "bytes";
};

type WithBytes<T> = T extends { steps: Array<infer Step> }
  ? Omit<T, "steps"> & { steps: Array<WithBytes<Step>> }
  : T extends { path: string; content: string }
    ? Omit<T, "content"> & { content: ToolContent }
    : T extends { operation: string; content?: string | null | undefined }
      ? Omit<T, "content"> & { content?: ToolContent | null | undefined }
      : T;

/** Every tool's key, in the order in which they are offered. */
export const KEYS = Object.keys(DEFINITIONS) as ToolKey[];

/** What happens when a call is made twice because its answer got lost. */
export function repeatOf(key: ToolKey, args: Record<string, unknown>): Repeat {
  if (DEFINITIONS[key].onlyLooks) return "safe";
  const isForced = args.force === true;
  switch (key) {
    case "writeFile":
      return typeof args.ifVersion === "string" || args.force === false
        ? "conditional"
        : "idempotent";
    case "delete":
    case "copy":
      return isForced ? "idempotent" : "conditional";
    case "snapshot":
      // An id that is made up would be another the second time.
      return typeof args.id === "string" ? "conditional" : "never";
    default:
      return DEFINITIONS[key].isIdempotent ? "idempotent" : "never";
  }
}
