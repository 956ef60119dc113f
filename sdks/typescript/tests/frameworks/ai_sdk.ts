// The AI SDK takes the tools as they are: it offers them to a model, checks what the model writes by
// their schemas, and hands the results back.

import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { Sandkeep } from "sandkeep";
import { createTools, FOR_MODELS, type ToolResult } from "sandkeep/tools";

const { SANDKEEP_URL: baseUrl = "", SANDKEEP_TOKEN: token } = process.env;
const sandbox = await new Sandkeep({ baseUrl, token }).sandboxes.create();
const { readFile, writeFile } = createTools(sandbox, FOR_MODELS);

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};
const calls = [
  { toolName: "readFile", input: { path: "missing.txt" } },
  { toolName: "writeFile", input: { path: "a.txt", content: "written by a model" } },
];
let turn = 0;
const model = new MockLanguageModelV3({
  doGenerate: async () => {
    const call = calls[turn];
    turn += 1;
    if (call === undefined) {
      const finishReason = { unified: "stop" as const, raw: undefined };
      return { content: [{ type: "text", text: "done" }], finishReason, usage, warnings: [] };
    }
    const input = JSON.stringify(call.input);
    const content = [
      { type: "tool-call" as const, toolCallId: `call-${turn}`, toolName: call.toolName, input },
    ];
    const finishReason = { unified: "tool-calls" as const, raw: undefined };
    return { content, finishReason, usage, warnings: [] };
  },
});

const { text, steps } = await generateText({
  model,
  tools: { readFile, writeFile },
  prompt: "write a file",
  stopWhen: stepCountIs(5),
});
const outputs = steps.flatMap((step) => step.toolResults).map((result) => result.output);
const results = (outputs as Array<ToolResult<unknown>>).map(({ success }) => success);
const content = await sandbox.files.readText("a.txt");

const context = { toolCallId: "1", messages: [], abortSignal: AbortSignal.abort() };
const aborted = await readFile.execute({ path: "a.txt" }, context);
const isAborted = aborted.metadata.kind === "aborted";
console.log(JSON.stringify({ text, results, content, isAborted }));
