/** All tools of a sandbox at once. */

import {
  SandboxAppendFile,
  SandboxBatch,
  SandboxCopy,
  SandboxCreateDirectory,
  SandboxDelete,
  SandboxDiff,
  SandboxEditFile,
  SandboxExists,
  SandboxFileInfo,
  SandboxListDirectory,
  SandboxListSnapshots,
  SandboxMove,
  SandboxReadFile,
  SandboxRestore,
  SandboxSearch,
  SandboxSnapshot,
  SandboxTree,
  SandboxWriteFile,
} from "./classes.js";
import { type Connection, clientOf, placeOf } from "./connection.js";
import type { ToolKey } from "./definitions.js";
import { settingsOf, type ToolSettings } from "./settings.js";

/** Every class of tools, in the order in which they are offered. */
const CLASSES = {
  readFile: SandboxReadFile,
  writeFile: SandboxWriteFile,
  listDirectory: SandboxListDirectory,
  createDirectory: SandboxCreateDirectory,
  delete: SandboxDelete,
  exists: SandboxExists,
  fileInfo: SandboxFileInfo,
  editFile: SandboxEditFile,
  appendFile: SandboxAppendFile,
  move: SandboxMove,
  copy: SandboxCopy,
  search: SandboxSearch,
  tree: SandboxTree,
  batch: SandboxBatch,
  snapshot: SandboxSnapshot,
  listSnapshots: SandboxListSnapshots,
  restore: SandboxRestore,
  diff: SandboxDiff,
} satisfies Record<ToolKey, unknown>;

/** Every tool by its key. */
export type Tools = { [K in ToolKey]: InstanceType<(typeof CLASSES)[K]> };

/** How much calls of models may do: text is recognised, and long results come in parts. */
export const FOR_MODELS = {
  defaultEncoding: "auto",
  maxResultBytes: 64 * 1024,
  maxDepth: 16,
  maxEntries: 1000,
} as const satisfies ToolSettings;

/**
 * Every tool of a sandbox.
 *
 * ```ts
 * const tools = createTools({ baseUrl: "http://127.0.0.1:2468", token: "…", sandbox: "alice" });
 * const result = await tools.readFile.execute({ path: "notes.txt" });
 * if (result.success) console.log(result.data.content);
 * ```
 */
export function createTools(connection: Connection, settings?: ToolSettings): Tools {
  const one = clientOf(connection);
  const made = Object.entries(CLASSES).map(([key, Tool]) => [key, new Tool(one, settings)]);
  return Object.fromEntries(made) as Tools;
}

/**
 * The tools that are of use in a sandbox: not those that its tree cannot do, and only those that look
 * if the key, or the settings, let nothing be changed. It asks the server.
 */
export async function offeredTools(
  connection: Connection,
  settings?: ToolSettings,
): Promise<Partial<Tools>> {
  const { readOnly } = settingsOf(settings);
  const one = clientOf(connection);
  const { transport, sandbox } = placeOf(one);
  const offered = await transport.json<{ tools: Array<{ name: string }> }>({
    operation: "tools.list",
    method: "GET",
    path: "/v1/tools",
    query: { sandbox },
    repeat: "safe",
  });
  const names = new Set(offered.tools.map(({ name }) => name));
  const fits = ([, tool]: [string, Tools[ToolKey]]) =>
    names.has(tool.name) && (tool.onlyLooks || readOnly !== true);
  return Object.fromEntries(Object.entries(createTools(one, settings)).filter(fits));
}
