/** One class for each tool: for frameworks that make tools themselves, and for those who extend them. */

import { SandkeepError } from "../errors.js";
import { fromBase64 } from "../files/base64.js";
import { DEFINITIONS, type ReadFileArguments, type ReadFileData } from "../generated/tools.js";
import { notUnderstood } from "../transport/answer.js";
import type { ToolContext } from "./base.js";
import type { Connection } from "./connection.js";
import type { Definition, ReadFileBytes, ToolKey } from "./definitions.js";
import { isBase64 } from "./encodings.js";
import type { ToolResult } from "./result.js";
import type { ToolSettings } from "./settings.js";
import { SandboxTool } from "./tool.js";

/** A class of tools, and what a decorator wants to know of it. */
export interface ToolClass<K extends ToolKey> {
  new (connection: Connection, settings?: ToolSettings): SandboxTool<K>;
  /** What a model calls it. */
  readonly toolName: string;
  /** What a model reads about it. */
  readonly description: string;
  /** What it takes. */
  readonly parameters: Definition<K>["parameters"];
}

function toolClass<K extends ToolKey>(key: K): ToolClass<K> {
  const { name, description, parameters }: Definition<K> = DEFINITIONS[key];
  return class extends SandboxTool<K> {
    static readonly toolName = name;
    static readonly description = description;
    static readonly parameters = parameters;

    constructor(connection: Connection, settings?: ToolSettings) {
      super(key, connection, settings);
    }
  };
}

/** How a file's content is wanted: as text (by default), or as the bytes that it is. */
export interface ReadContext extends ToolContext {
  as?: "text" | "bytes" | undefined;
}

/** A context of one who wants bytes. */
export type BytesContext = ReadContext & { as: "bytes" };

/** A context of one who wants text. */
export type TextContext = ReadContext & { as?: "text" | undefined };

export class SandboxReadFile extends toolClass("readFile") {
  override execute(
    args: ReadFileArguments,
    context: BytesContext,
  ): Promise<ToolResult<ReadFileBytes>>;
  override execute(
    args: ReadFileArguments,
    context?: TextContext,
  ): Promise<ToolResult<ReadFileData>>;
  override execute(
    args: ReadFileArguments,
    context?: ReadContext,
  ): Promise<ToolResult<ReadFileData | ReadFileBytes>> {
    return super.execute(args, context);
  }

  override executeSync(args: ReadFileArguments, context: BytesContext): ToolResult<ReadFileBytes>;
  override executeSync(args: ReadFileArguments, context?: TextContext): ToolResult<ReadFileData>;
  override executeSync(
    args: ReadFileArguments,
    context?: ReadContext,
  ): ToolResult<ReadFileData | ReadFileBytes> {
    return super.executeSync(args, context);
  }

  protected override asSent(args: unknown, context: ReadContext | undefined): unknown {
    const as = context?.as ?? "text";
    if (as === "text") return super.asSent(args, context);
    if (as !== "bytes") throw refused("content is wanted as `text` or as `bytes`");
    const encoding: unknown = (args as ReadFileArguments | undefined)?.encoding ?? "base64";
    // What no encoding can be is told as such, as everywhere.
    if (typeof encoding !== "string") return super.asSent(args, context);
    if (!isBase64(encoding)) {
      throw refused("`encoding` says how bytes become text, and bytes are wanted");
    }
    return { ...(args as object), encoding: "base64" };
  }

  protected override asWanted(data: ReadFileData, context: ReadContext | undefined): ReadFileData {
    if (context?.as !== "bytes") return data;
    // Runtimes make some bytes of any text.
    if (!isBase64(data.encoding) || !isPlainBase64(data.content)) {
      throw notUnderstood("the content is no base64, which was asked for", `tools.${this.name}`);
    }
    const bytes: ReadFileBytes = { ...data, content: fromBase64(data.content), encoding: "bytes" };
    // The overloads say so to whoever asked for bytes.
    return bytes as unknown as ReadFileData;
  }
}

export class SandboxWriteFile extends toolClass("writeFile") {}
export class SandboxListDirectory extends toolClass("listDirectory") {}
export class SandboxCreateDirectory extends toolClass("createDirectory") {}
export class SandboxDelete extends toolClass("delete") {}
export class SandboxExists extends toolClass("exists") {}
export class SandboxFileInfo extends toolClass("fileInfo") {}
export class SandboxEditFile extends toolClass("editFile") {}
export class SandboxAppendFile extends toolClass("appendFile") {}
export class SandboxMove extends toolClass("move") {}
export class SandboxCopy extends toolClass("copy") {}
export class SandboxSearch extends toolClass("search") {}
export class SandboxTree extends toolClass("tree") {}
export class SandboxBatch extends toolClass("batch") {}
export class SandboxSnapshot extends toolClass("snapshot") {}
export class SandboxListSnapshots extends toolClass("listSnapshots") {}
export class SandboxRestore extends toolClass("restore") {}
export class SandboxDiff extends toolClass("diff") {}

/** Whether a text is base64 as the server writes it: in the usual letters, padded, on one line. */
function isPlainBase64(text: string): boolean {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  // What does not belong is looked for: a pattern of the whole would be too much for long texts.
  return text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(text.slice(0, text.length - padding));
}

function refused(message: string): SandkeepError {
  const hint = "change how it is called; the same call will fail again";
  return new SandkeepError(message, { kind: "invalid_argument", hint });
}
