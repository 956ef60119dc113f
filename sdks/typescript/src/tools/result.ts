/** What came of a call. Whatever goes wrong on the way is a result too. */

import { z } from "zod/v4";
import { SandkeepError } from "../errors.js";
import { metadata } from "../generated/tools.js";

/** What else there is to say of a call. What does not concern it is left out. */
export type ToolMetadata = z.output<typeof metadata>;

/** It was done. */
export interface ToolSuccess<T> {
  success: true;
  data: T;
  error: null;
  metadata: ToolMetadata;
}

/** It failed: `metadata` has its `kind` for programs, and `error` says to people what to do next. */
export interface ToolFailure {
  success: false;
  data: null;
  error: string;
  metadata: ToolMetadata;
}

/** What came of a call. */
export type ToolResult<T> = ToolSuccess<T> | ToolFailure;

/** What a call gave, for programs that go on only if it was done. Throws what went wrong otherwise. */
export function dataOf<T>(result: ToolResult<T>): T {
  if (result.success) return result.data;
  const { tool, kind = "io", hint, path } = result.metadata;
  const operation = `tools.${tool}`;
  throw new SandkeepError(result.error, { kind, hint, path, operation, problem: result });
}

/** The schema of a result, made of that of its data. */
export function resultSchema<T extends z.ZodType>(data: T) {
  const [yes, no] = [z.literal(true), z.literal(false)];
  return z.discriminatedUnion("success", [
    z.object({ success: yes, data, error: z.null(), metadata }),
    z.object({ success: no, data: z.null(), error: z.string(), metadata }),
  ]);
}

/** What may be otherwise in a while. */
const PASSING = [
  ...["connection", "timeout", "busy", "locked", "unavailable", "too_many_requests"],
];

/** A failure that the client found out itself, or that came without a result. */
export function failed(tool: string, begun: number, error: SandkeepError): ToolFailure {
  const { message, kind, hint, path } = error;
  return {
    success: false,
    data: null,
    error: hint === undefined ? message : `${message} (${hint})`,
    metadata: {
      tool,
      durationMs: Date.now() - begun,
      kind,
      ...(path === undefined ? {} : { path }),
      ...(hint === undefined ? {} : { hint }),
      retryable: PASSING.includes(kind),
    },
  };
}

/** The failure that an error of the transport is: what the server said of it, if it said so. */
export function failureOf(tool: string, begun: number, error: unknown): ToolFailure {
  if (!(error instanceof SandkeepError)) throw error;
  // What an earlier try did is not known to the server.
  const told = error.kind === "in_doubt" ? undefined : envelope.safeParse(error.problem);
  return told?.success ? (error.problem as ToolFailure) : failed(tool, begun, error);
}

const envelope = z.object({
  success: z.literal(false),
  data: z.null(),
  error: z.string(),
  metadata,
});

/** A result as the server told it, if it is one. */
export function resultOf<T>(answer: unknown, schema: z.ZodType, operation: string): ToolResult<T> {
  const checked = schema.safeParse(answer);
  // As it came: a newer server may have told more than is known here.
  if (checked.success) return answer as ToolResult<T>;
  throw new SandkeepError(`the answer is no result of this tool: ${issues(checked.error)}`, {
    kind: "not_understood",
    hint: "look whether baseUrl leads to a Sandkeep server of this version",
    operation,
  });
}

/** The first few things that are wrong, in one line. */
export function issues(error: z.ZodError): string {
  const told = error.issues.slice(0, 3).map(({ path, message }) => {
    const at = path.reduce<string>(
      (at, key) => (typeof key === "number" ? `${at}[${key}]` : `${at}${at && "."}${String(key)}`),
      "",
    );
    return at === "" ? message : `\`${at}\`: ${message}`;
  });
  const more = error.issues.length - told.length;
  return more > 0 ? `${told.join("; ")}; and ${more} more` : told.join("; ");
}
