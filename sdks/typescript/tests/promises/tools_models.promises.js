// Tools as models see and call them.

import { done, refused } from "../harness/done.js";
import { equal, ok } from "../harness/expect.js";

export default function ({ it, fresh, keep, connect, toolkit, baseUrl, token }) {
  const { createTools, openAiTools, anthropicTools, callTool } = toolkit;
  const announced = async (query = "") => {
    const headers = { authorization: `Bearer ${token}` };
    return (await (await fetch(`${baseUrl}/v1/tools${query}`, { headers })).json()).tools;
  };

  it("the schemas are those of the server", async () => {
    const theirs = await announced();
    const tools = Object.values(createTools(keep));
    equal(
      tools.map(({ name }) => name),
      theirs.map(({ name }) => name),
    );
    const spelled = openAiTools(createTools(keep));
    for (const [at, one] of theirs.entries()) {
      const tool = tools[at];
      equal([tool.title, tool.description], [one.title, one.description]);
      equal(tool.onlyLooks, one.annotations.readOnlyHint);
      equal(meaning(spelled[at].function.parameters), meaning(one.inputSchema));
    }
  });

  it("the lists for models are those of the server", async () => {
    const alike = (tools) => JSON.stringify(tools.map(meaning));
    const tools = createTools(keep);
    equal(alike(openAiTools(tools)), alike(await announced("?format=openai")));
    equal(alike(anthropicTools(tools)), alike(await announced("?format=anthropic")));
  });

  it("only what is of use is offered", async () => {
    const names = async (connection, settings) =>
      Object.values(await toolkit.offeredTools(connection, settings)).map(({ name }) => name);
    const sandbox = await fresh();
    equal((await names(sandbox)).length, 18);
    const looking = await names(sandbox, { readOnly: true });
    ok(looking.includes("read_file") && !looking.includes("write_file"), looking.join());
    const { key } = await keep.keys.create({ role: "viewer", sandboxes: [sandbox.id] });
    equal(await names(connect({ token: undefined, key }).sandbox(sandbox.id)), looking);
    const host = await names(await fresh({ kind: "host" }));
    ok(host.includes("write_file") && !host.includes("batch"), host.join());
  });

  it("a call finds its tool by name, with arguments as an object or as JSON", async () => {
    const tools = createTools(await fresh());
    await done(callTool(tools, "write_file", { path: "a", content: "A" }));
    equal((await done(callTool(tools, "read_file", '{"path":"a"}'))).content, "A");
    equal((await done(callTool(tools, "list_directory", ""))).entries.length, 1);
    const unknown = await refused(callTool(tools, "sandbox_read_file", {}), "tool_not_found");
    ok(unknown.hint.includes("read_file"), unknown.hint);
    await refused(callTool(tools, "constructor", {}), "tool_not_found");
    await refused(callTool(tools, "read_file", '{"path":'), "invalid_argument");
    await refused(callTool(tools, "read_file", "[]"), "invalid_argument");
    await refused(callTool(tools, "read_file", "null"), "invalid_argument");
    await refused(callTool(tools, "tree", {}, { signal: AbortSignal.abort() }), "aborted");
  });

  it("a loop with a model in OpenAI's manner comes to its end", async () => {
    const sandbox = await fresh();
    const tools = createTools(sandbox, toolkit.FOR_MODELS);
    const messages = [{ role: "user", content: "write a poem and tell me how long it is" }];
    for (let turn = 0; turn < 10; turn += 1) {
      const message = model(messages, openAiTools(tools));
      messages.push(message);
      if (message.tool_calls === undefined) break;
      for (const call of message.tool_calls) {
        messages.push(await toolkit.answerOpenAi(tools, call));
      }
    }
    equal(messages.at(-1).content, "it has 14 bytes");
    equal(await sandbox.files.readText("poem.txt"), "roses are red\n");
    equal(messages.filter(({ role }) => role === "tool").map(outcome), [false, true, true]);
  });

  it("a model of Anthropic is told what is an error", async () => {
    const tools = createTools(await fresh());
    const use = { id: "toolu_1", name: "write_file", input: { path: "a", content: "A" } };
    const block = await toolkit.answerAnthropic(tools, use);
    equal([block.type, block.tool_use_id, block.is_error], ["tool_result", "toolu_1", false]);
    equal(JSON.parse(block.content).data.bytesWritten, 1);
    const wrong = { ...use, input: { path: "a" } };
    equal((await toolkit.answerAnthropic(tools, wrong)).is_error, true);
  });

  it("a result can be checked against its schema", async () => {
    const tools = createTools(await fresh());
    const schema = toolkit.resultSchema(tools.tree.dataSchema);
    equal(schema.safeParse(await tools.tree.execute({})).success, true);
    equal(schema.safeParse(await tools.tree.execute({ path: "none" })).success, true);
    equal(schema.safeParse({ success: true, data: {}, error: null }).success, false);
  });
}

/** A model that first forgets an argument, learns from what it is told, and looks at what it did. */
function model(messages, tools) {
  const names = tools.map((tool) => tool.function.name);
  const call = (name, args) => {
    if (!names.includes(name)) throw new Error(`the model was not told of ${name}`);
    const tool_calls = [
      { id: `call_${messages.length}`, function: { name, arguments: JSON.stringify(args) } },
    ];
    return { role: "assistant", content: null, tool_calls };
  };
  const last = messages.at(-1);
  if (last.role === "user") return call("write_file", { path: "poem.txt" });
  const { success, data } = JSON.parse(last.content);
  if (!success) return call("write_file", { path: "poem.txt", content: "roses are red\n" });
  if (data.bytesWritten !== undefined) return call("file_info", { path: data.path });
  return { role: "assistant", content: `it has ${data.size} bytes` };
}

function outcome({ content }) {
  return JSON.parse(content).success;
}

/** What a JSON Schema means, however it is spelled: zod and the server write some things otherwise. */
function meaning(value, name) {
  if (Array.isArray(value)) return name === "required" ? [...value].sort() : value.map(meaning);
  if (typeof value !== "object" || value === null) return value;
  const { anyOf, oneOf, type, format, default: usual, maximum, ...rest } = value;
  const isSchema = typeof type === "string" || Array.isArray(type) || anyOf || oneOf;
  if (!isSchema) return sorted(value);
  if (anyOf !== undefined) {
    const plain = anyOf.find((one) => one.type !== "null");
    return { ...meaning({ ...plain, ...rest }), nullable: true };
  }
  if (oneOf !== undefined)
    return sorted({ ...rest, type: "string", enum: oneOf.map((one) => one.const) });
  if (Array.isArray(type)) {
    const [plain] = type.filter((one) => one !== "null");
    return { ...meaning({ ...rest, type: plain }), nullable: true };
  }
  return sorted({ ...rest, type });
}

function sorted(object) {
  const entries = Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, value]) => [name, meaning(value, name)]));
}
