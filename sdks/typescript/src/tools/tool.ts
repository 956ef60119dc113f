/** A tool of the server, as programs call it. */

import type { z } from "zod/v4";
import { SandkeepError } from "../errors.js";
import { DEFINITIONS } from "../generated/tools.js";
import type { Ask } from "../transport/transport.js";
import { ToolBase, type ToolContext } from "./base.js";
import { type Connection, type Place, placeOf } from "./connection.js";
import { lengthOf, withText } from "./content.js";
import { Deadline, signalOf } from "./deadline.js";
import {
  type ArgumentsOf,
  type DataOf,
  type Definition,
  repeatOf,
  type ToolKey,
} from "./definitions.js";
import { failureOf, issues, resultOf, resultSchema, type ToolResult } from "./result.js";
import { settingsOf, settingsQuery, type ToolSettings } from "./settings.js";
import { sendSync } from "./sync/send.js";

/** A tool in one sandbox. */
export class SandboxTool<K extends ToolKey> extends ToolBase<ArgumentsOf<K>, DataOf<K>> {
  readonly key: K;
  readonly name: string;
  /** What people call it. */
  readonly title: string;
  readonly description: string;
  /** Whether it changes nothing. */
  readonly onlyLooks: boolean;
  readonly parameters: Definition<K>["parameters"];
  /** The same, as the AI SDK calls it. */
  readonly inputSchema: Definition<K>["parameters"];
  /** What it gives. */
  readonly dataSchema: Definition<K>["data"];
  readonly settings: ToolSettings;
  readonly #place: Place;
  readonly #result: z.ZodType;

  /** One class for each tool says which it is. */
  protected constructor(key: K, connection: Connection, settings?: ToolSettings) {
    super();
    const definition: Definition<K> = DEFINITIONS[key];
    this.key = key;
    this.name = definition.name;
    this.title = definition.title;
    this.description = definition.description;
    this.onlyLooks = definition.onlyLooks;
    this.parameters = definition.parameters;
    this.inputSchema = definition.parameters;
    this.dataSchema = definition.data;
    this.settings = settingsOf(settings);
    this.#place = placeOf(connection);
    this.#result = resultSchema(this.dataSchema);
    // Frameworks take methods out of the objects that they are of.
    this.execute = this.execute.bind(this);
    this.executeSync = this.executeSync.bind(this);
  }

  /** Does it. */
  async execute(args: ArgumentsOf<K>, context?: ToolContext): Promise<ToolResult<DataOf<K>>> {
    const begun = Date.now();
    const deadline = new Deadline(this.settings.timeoutMs, signalOf(context));
    try {
      const ask = { ...this.#ask(args, context), signal: deadline.signal };
      return this.#given(await this.#place.transport.json(ask), context);
    } catch (error) {
      return failureOf(this.name, begun, deadline.explain(error, this.onlyLooks));
    } finally {
      deadline.end();
    }
  }

  /**
   * Does it, and holds this thread until it is done: in Node alone. Elsewhere, and where a token or
   * requests are made by functions that take their time, it is a failure of kind `unsupported`.
   */
  executeSync(args: ArgumentsOf<K>, context?: ToolContext): ToolResult<DataOf<K>> {
    const begun = Date.now();
    try {
      const ask = { ...this.#ask(args, context), signal: signalOf(context) };
      return this.#given(sendSync(this.#place.transport, ask, this.settings.timeoutMs), context);
    } catch (error) {
      return failureOf(this.name, begun, error);
    }
  }

  /** Arguments as the server takes them, of those that programs give. */
  protected asSent(args: unknown, _context: object | undefined): unknown {
    return withText(args ?? {});
  }

  /** Data as programs want it, of what the server gave. */
  protected asWanted(data: DataOf<K>, _context: object | undefined): DataOf<K> {
    return data;
  }

  /** The request that a call is, if its arguments can be what the tool takes. */
  #ask(args: unknown, context: object | undefined): Ask {
    const operation = `tools.${this.name}`;
    const checked = this.parameters.safeParse(this.asSent(args, context));
    if (!checked.success) throw wrongArguments(issues(checked.error), this.name, operation);
    const json = checked.data as Record<string, unknown>;
    this.#checkSizes(json);
    return {
      operation,
      method: "POST",
      path: `/v1/tools/${this.name}`,
      query: { sandbox: this.#place.sandbox, ...settingsQuery(this.settings) },
      json,
      repeat: repeatOf(this.key, json),
      // A call that says how long it may take needs no other limit.
      timeout: this.settings.timeoutMs === undefined ? undefined : 0,
    };
  }

  /** Refuses what is too long before it is sent, where that can be told. */
  #checkSizes(args: Record<string, unknown>): void {
    const { maxFileSize, defaultEncoding } = this.settings;
    if (maxFileSize === undefined || this.onlyLooks) return;
    const steps = Array.isArray(args.steps) ? args.steps : [args];
    for (const { content, encoding, path } of steps) {
      if (typeof content !== "string") continue;
      const size = lengthOf(content, encoding ?? defaultEncoding) ?? 0;
      if (size <= maxFileSize) continue;
      const message = `the content has ${size} bytes, and ${maxFileSize} are allowed: ${path}`;
      const hint = "write a shorter file, or several";
      throw new SandkeepError(message, { kind: "file_too_large", hint, path });
    }
  }

  #given(answer: unknown, context: object | undefined): ToolResult<DataOf<K>> {
    const result = resultOf<DataOf<K>>(answer, this.#result, `tools.${this.name}`);
    return result.success ? { ...result, data: this.asWanted(result.data, context) } : result;
  }
}

function wrongArguments(message: string, name: string, operation: string): SandkeepError {
  const hint = `call \`${name}\` with arguments that fit its schema`;
  return new SandkeepError(message, { kind: "invalid_argument", hint, operation });
}
