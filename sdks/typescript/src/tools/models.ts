/** Tools as models are told of them, and their calls as models make them. */

import { z } from "zod/v4";
import { SandkeepError } from "../errors.js";
import { failed, type ToolResult } from "./result.js";

/** What is needed of a tool to offer it to a model. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: z.ZodType;
  execute(
    args: never,
    context?: { signal?: AbortSignal | undefined },
  ): Promise<ToolResult<unknown>>;
}

/** Tools by whatever key. */
export type OfferedTools = Readonly<Record<string, OfferedTool>>;

/** A JSON Schema. */
export type JsonSchema = Record<string, unknown>;

/** A tool as the chat completions of OpenAI, and of those who copy them, are told of it. */
export interface OpenAiTool {
  type: "function";
  function: { name: string; description: string; parameters: JsonSchema };
}

/** A call as such a model makes it. */
export interface OpenAiToolCall {
  id: string;
  function: { name: string; arguments: string };
}

/** The message that answers it. */
export interface OpenAiToolMessage {
  role: "tool";
  tool_call_id: string;
  content: string;
}

/** A tool as the messages of Anthropic are told of it. */
export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: JsonSchema & { type: "object" };
}

/** A call as such a model makes it. */
export interface AnthropicToolUse {
  id: string;
  name: string;
  input: unknown;
}

/** The block that answers it. */
export interface AnthropicToolResult {
  type: "tool_result";
  tool_use_id: string;
  content: string;
  is_error: boolean;
}

/** What a call of a model can be told. */
export interface AnswerOptions {
  /** Ends the call. */
  signal?: AbortSignal | undefined;
}

/** The `tools` of a request to OpenAI's chat completions. */
export function openAiTools(tools: OfferedTools): OpenAiTool[] {
  return Object.values(tools).map((tool) => {
    const { name, description } = tool;
    return { type: "function", function: { name, description, parameters: schemaOf(tool) } };
  });
}

/** The `tools` of a request to Anthropic's messages. */
export function anthropicTools(tools: OfferedTools): AnthropicTool[] {
  return Object.values(tools).map((tool) => {
    const { name, description } = tool;
    return { name, description, input_schema: { ...schemaOf(tool), type: "object" } };
  });
}

/**
 * Calls the tool of this name, with arguments as they came: an object, or its JSON. A name that no
 * tool has is a failure like any other, so that a model learns of it.
 */
export async function callTool(
  tools: OfferedTools,
  name: string,
  args: unknown,
  options: AnswerOptions = {},
): Promise<ToolResult<unknown>> {
  const begun = Date.now();
  const tool = Object.values(tools).find((tool) => tool.name === name);
  if (tool === undefined) return failed(name, begun, noSuchTool(name, tools));
  try {
    const given = typeof args === "string" ? parsed(args) : args;
    return await tool.execute(given as never, options);
  } catch (error) {
    if (error instanceof SandkeepError) return failed(name, begun, error);
    throw error;
  }
}

/** Makes the call of a model of OpenAI, and answers it. */
export async function answerOpenAi(
  tools: OfferedTools,
  call: OpenAiToolCall,
  options: AnswerOptions = {},
): Promise<OpenAiToolMessage> {
  const result = await callTool(tools, call.function.name, call.function.arguments, options);
  return { role: "tool", tool_call_id: call.id, content: JSON.stringify(result) };
}

/** Makes the call of a model of Anthropic, and answers it. */
export async function answerAnthropic(
  tools: OfferedTools,
  use: AnthropicToolUse,
  options: AnswerOptions = {},
): Promise<AnthropicToolResult> {
  const result = await callTool(tools, use.name, use.input, options);
  const content = JSON.stringify(result);
  return { type: "tool_result", tool_use_id: use.id, content, is_error: !result.success };
}

/** The JSON Schema of a tool's arguments. */
function schemaOf({ parameters }: OfferedTool): JsonSchema {
  const { $schema, ...schema } = z.toJSONSchema(parameters, { io: "input" });
  return schema;
}

/** The arguments that a model wrote. Some write nothing where nothing is needed. */
function parsed(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = `the arguments are not JSON: ${cause instanceof Error ? cause.message : cause}`;
    const hint = "write the arguments as one JSON object";
    throw new SandkeepError(message, { kind: "invalid_argument", hint, cause });
  }
}

function noSuchTool(name: string, tools: OfferedTools): SandkeepError {
  const names = Object.values(tools).map((tool) => tool.name);
  const hint = `the tools are ${names.join(", ")}`;
  return new SandkeepError(`there is no tool \`${name}\``, { kind: "tool_not_found", hint });
}
