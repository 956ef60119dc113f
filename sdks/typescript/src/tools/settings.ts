/** How much calls may do, and where. A call can ask for less than the server allows, never for more. */

import { z } from "zod/v4";
import { SandkeepError } from "../errors.js";
import type { Query } from "../transport/address.js";
import { encoding, path } from "./fields.js";
import { issues } from "./result.js";

const most = z.int().min(1);

/** The configuration of tools. */
export const settingsSchema = z.strictObject({
  defaultEncoding: encoding
    .describe("How text is written and read where the arguments do not say.")
    .optional(),
  maxFileSize: most
    .describe("The longest file that is read whole or written, in bytes.")
    .optional(),
  maxResultBytes: most.describe("How many bytes of content a result holds.").optional(),
  allowedPaths: z
    .array(path)
    .min(1)
    .describe(
      "The files and directories that may be looked at and changed, with what is beneath them.",
    )
    .optional(),
  blockedPaths: z.array(path).describe("Those that may not.").optional(),
  timeoutMs: most.describe("How long a call may take, in milliseconds.").optional(),
  maxDepth: most.describe("How many levels are looked at beneath a directory.").optional(),
  maxEntries: most.describe("How many entries a result holds.").optional(),
  readOnly: z.boolean().describe("Whether nothing may be changed.").optional(),
});

/** The configuration of tools: all that a call asks for is less than the server allows. */
export type ToolSettings = z.output<typeof settingsSchema>;

/** Settings that can be used. Wrong ones are a mistake of the program, not of a call. */
export function settingsOf(settings: unknown): ToolSettings {
  const checked = settingsSchema.safeParse(settings ?? {});
  if (checked.success) return checked.data;
  throw new SandkeepError(`the settings of tools are wrong: ${issues(checked.error)}`, {
    kind: "invalid_argument",
  });
}

/** The settings as a request has them. */
export function settingsQuery(settings: ToolSettings): Query {
  return { ...settings };
}
