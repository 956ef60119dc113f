/** What every tool is, whatever it does and whoever calls it. */

import type { z } from "zod/v4";
import type { ToolResult } from "./result.js";

/** What a call can be told beside its arguments. Whatever else a framework hands over is left alone. */
export interface ToolContext {
  /** Ends the call. */
  signal?: AbortSignal | undefined;
  /** The same, as some frameworks call it. */
  abortSignal?: AbortSignal | undefined;
}

/**
 * A tool: a schema of its arguments, and something to do with them.
 *
 * - `execute` never throws because of what was asked for or because of the server: that is a result
 *   with `success: false`.
 * - Arguments are checked before anything is done; unknown ones are refused.
 */
export abstract class ToolBase<TArgs extends object, TData, TContext extends object = ToolContext> {
  /** What a model calls it. */
  abstract readonly name: string;
  /** What a model reads about it. */
  abstract readonly description: string;
  /** What it takes. */
  abstract readonly parameters: z.ZodType;

  /** Does it. */
  abstract execute(args: TArgs, context?: TContext): Promise<ToolResult<TData>>;
}
