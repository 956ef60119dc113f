/** Tools for agents and workflows: every operation with a schema of its arguments and a plain result. */

export type * from "../generated/tools.js";
export { DEFINITIONS as definitions, metadata as metadataSchema } from "../generated/tools.js";
export { ToolBase, type ToolContext } from "./base.js";
export * from "./classes.js";
export type { Connection, ConnectionOptions } from "./connection.js";
export type { ToolContent } from "./content.js";
export { createTools, FOR_MODELS, offeredTools, type Tools } from "./create.js";
export type { ArgumentsOf, DataOf, Definition, ReadFileBytes, ToolKey } from "./definitions.js";
export * from "./models.js";
export {
  dataOf,
  resultSchema,
  type ToolFailure,
  type ToolMetadata,
  type ToolResult,
  type ToolSuccess,
} from "./result.js";
export { settingsSchema, type ToolSettings } from "./settings.js";
export { SandboxTool } from "./tool.js";
