// A model that works on files, in the manner of OpenAI's chat completions. The model here is three lines
// of code; a real one gets the same `messages` and `tools`, and answers in the same shape.
//
//   SANDKEEP_URL=http://127.0.0.1:2468 SANDKEEP_TOKEN=… node model_loop.js

import { Sandkeep } from "sandkeep";
import {
  answerOpenAi,
  FOR_MODELS,
  type OpenAiTool,
  type OpenAiToolCall,
  offeredTools,
  openAiTools,
} from "sandkeep/tools";

type Message =
  | { role: "user"; content: string }
  | { role: "assistant"; content: string | null; tool_calls?: OpenAiToolCall[] }
  | { role: "tool"; tool_call_id: string; content: string };

const keep = new Sandkeep({
  baseUrl: process.env.SANDKEEP_URL ?? "http://127.0.0.1:2468",
  token: process.env.SANDKEEP_TOKEN,
});
const sandbox = await keep.sandboxes.create();
await sandbox.files.write("src/greeting.txt", "hello wrold\n");

// Only what is of use in this sandbox, and never more of a file than a model can hold.
const tools = await offeredTools(sandbox, FOR_MODELS);
const messages: Message[] = [{ role: "user", content: "find the spelling mistake and mend it" }];

for (let turn = 0; turn < 10; turn += 1) {
  const message = complete(messages, openAiTools(tools));
  messages.push(message);
  if (message.tool_calls === undefined) break;
  // What goes wrong is an answer too: the model reads what to do next.
  for (const call of message.tool_calls) messages.push(await answerOpenAi(tools, call));
}

console.log(messages.at(-1)?.content);
console.log(await sandbox.files.readText("src/greeting.txt"));

/** Stands for a model: it searches, edits what it found, and is done. */
function complete(messages: Message[], offered: OpenAiTool[]): Message & { role: "assistant" } {
  const call = (name: string, args: object): Message & { role: "assistant" } => {
    if (!offered.some((tool) => tool.function.name === name)) throw new Error(`no ${name}`);
    const wish = { name, arguments: JSON.stringify(args) };
    const tool_calls = [{ id: `call_${messages.length}`, function: wish }];
    return { role: "assistant", content: null, tool_calls };
  };
  const last = messages.at(-1);
  if (last?.role !== "tool") return call("search", { content: "wrold" });
  const { data } = JSON.parse(last.content);
  if (data.matches === undefined) return { role: "assistant", content: `mended ${data.path}` };
  const edits = [{ oldText: "wrold", newText: "world" }];
  return call("edit_file", { path: data.matches[0].path, edits });
}
