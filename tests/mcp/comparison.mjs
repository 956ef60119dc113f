// The same questions to `sandkeep mcp` and to the reference server for files, side by side.

import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { http, keyOf, onUpdated, rest, soon, stdio } from "./clients.mjs";
import { binary, emptyDirectory, serve } from "../program.mjs";

const LATIN = Buffer.from("caf\xe9\n", "latin1");
const BYTES = Buffer.from([0xff, 0x00, 0xfe]);
const SPACED = "  two spaces\r\nand a line feed\n\n";
const LINES = Array.from({ length: 3000 }, (_, index) => `line ${index + 1}`).join("\n");

/** The text of a result, whichever server gave it. */
const text = (result) => result.content.map((part) => part.text ?? part.data ?? part.resource?.blob ?? "").join("");
const yes = (holds, otherwise) => (holds ? "yes" : `no: ${otherwise}`);
/** There is no tool for it: none whose name is like this. */
const none = (what, name) => async ({ tools }) => {
  const found = tools.find((tool) => name.test(tool.name));
  return found ? `yes: ${found.name}` : `no: there is no tool that ${what}`;
};

/** Each question: what is asked, and how it is asked of either server. Answers begin with yes or no. */
const QUESTIONS = [
  {
    ask: "Text is read byte for byte, with its spaces and line ends",
    ours: async ({ call }) => yes(text(await call("read_file", { path: "spaced.txt" })) === SPACED, "not the same"),
    theirs: async ({ call, at }) => yes(text(await call("read_text_file", { path: at("spaced.txt") })) === SPACED, "not the same"),
  },
  {
    ask: "Text that is not UTF-8 is read without replacement characters",
    ours: async ({ call }) => judge(text(await call("read_file", { path: "latin.txt", encoding: "latin1" }))),
    theirs: async ({ call, at }) => judge(text(await call("read_text_file", { path: at("latin.txt") }))),
  },
  {
    ask: "Any bytes are read exactly",
    ours: async ({ call }) => exact((await call("read_file", { path: "raw.bin" })).structuredContent.data.content),
    theirs: async ({ call, at }) => exact(text(await call("read_media_file", { path: at("raw.bin") }))),
  },
  {
    ask: "Any bytes are written exactly",
    ours: async ({ call, dir }) => {
      await call("write_file", { path: "made.bin", content: BYTES.toString("base64"), encoding: "base64" });
      return yes(BYTES.equals(await readFile(join(dir, "made.bin"))), "other bytes");
    },
    theirs: none("writes anything but text", /binary|write_media/),
  },
  {
    ask: "Lines from the middle of a file",
    ours: async ({ call }) => yes(text(await call("read_file", { path: "long.txt", startLine: 1500, endLine: 1501 })).startsWith("line 1500\nline 1501"), "other lines"),
    theirs: none("reads but the first or the last lines", /line|range/),
  },
  {
    ask: "A file of 10 MB does not flood the model, and it is told how to go on",
    ours: async ({ call }) => flood(await call("read_file", { path: "huge.txt" })),
    theirs: async ({ call, at }) => flood(await call("read_text_file", { path: at("huge.txt") })),
  },
  {
    ask: "A listing of 5,000 names does not, either",
    ours: async ({ call }) => flood(await call("list_directory", { path: "wide" })),
    theirs: async ({ call, at }) => flood(await call("list_directory", { path: at("wide") })),
  },
  {
    ask: "A name with a line feed is one name",
    ours: async ({ call }) => yes((await call("list_directory", { path: "odd" })).structuredContent.data.entries.some(({ name }) => name === "new\nline"), "it is cut"),
    theirs: async ({ call, at }) => yes(text(await call("list_directory", { path: at("odd") })).split("\n").length === 1, "it is shown as two"),
  },
  {
    ask: "A file is written where its directories are missing",
    ours: async ({ call }) => did(await call("write_file", { path: "a/b/c.txt", content: "c" })),
    theirs: async ({ call, at }) => did(await call("write_file", { path: at("a/b/c.txt"), content: "c" })),
  },
  { ask: "Append", ours: async ({ call }) => did(await call("append_file", { path: "log.txt", content: "x" })), theirs: none("appends", /append/) },
  { ask: "Copy a directory", ours: async ({ call }) => did(await call("copy", { from: "odd", to: "copied" })), theirs: none("copies", /copy/) },
  { ask: "Delete", ours: async ({ call }) => did(await call("delete", { path: "copied", recursive: true })), theirs: none("deletes", /delete|remove/) },
  {
    ask: "Move",
    ours: async ({ call }) => did(await call("move", { from: "move.txt", to: "moved.txt" })),
    theirs: async ({ call, at }) => did(await call("move_file", { source: at("move.txt"), destination: at("moved.txt") })),
  },
  { ask: "Whether something exists, without a failure", ours: async ({ call }) => did(await call("exists", { path: "nowhere" })), theirs: none("says so", /exist/) },
  {
    ask: "Edit a text that is there once; refuse one that is there twice",
    ours: async ({ call }) => ambiguous(await call("edit_file", { path: "twice.txt", edits: [{ oldText: "same", newText: "other" }] })),
    theirs: async ({ call, at }) => ambiguous(await call("edit_file", { path: at("twice.txt"), edits: [{ oldText: "same", newText: "other" }] })),
  },
  {
    ask: "Search the content of files",
    ours: async ({ call }) => yes((await call("search", { content: "line 2999" })).structuredContent.data.matches.length > 0, "not found"),
    theirs: none("looks into files", /content|grep/),
  },
  {
    ask: "Find files by name",
    ours: async ({ call }) => yes(text(await call("search", { names: "*.bin" })).includes("raw.bin"), "not found"),
    theirs: async ({ call, at }) => yes(text(await call("search_files", { path: at("."), pattern: "**/*.bin" })).includes("raw.bin"), "not found"),
  },
  {
    ask: "Snapshots: keep, compare, bring back",
    ours: async ({ call }) => {
      await call("snapshot", { id: "kept" });
      await call("write_file", { path: "spaced.txt", content: "ruined" });
      const changes = (await call("diff", { from: "kept" })).structuredContent.data.changes.length;
      await call("restore", { id: "kept" });
      return yes(changes > 0 && text(await call("read_file", { path: "spaced.txt" })) === SPACED, "not brought back");
    },
    theirs: none("keeps any", /snapshot|version/),
  },
  {
    ask: "A misspelt path is told what may have been meant",
    ours: async ({ call }) => yes(text(await call("read_file", { path: "spacd.txt" })).includes("spaced.txt"), "no word of it"),
    theirs: async ({ call, at }) => yes(text(await call("read_text_file", { path: at("spacd.txt") })).includes("spaced.txt"), "it tells the words of the machine"),
  },
  {
    ask: "A link out of the directory leads nowhere",
    ours: async ({ call }) => yes((await call("read_file", { path: "way-out" })).isError, "it is followed"),
    theirs: async ({ call, at }) => yes((await call("read_text_file", { path: at("way-out") })).isError, "it is followed"),
  },
  {
    ask: "Relative paths begin at the directory",
    ours: async ({ call }) => did(await call("file_info", { path: "raw.bin" })),
    theirs: async ({ call }) => did(await call("get_file_info", { path: "raw.bin" })),
  },
  ...[
    same("Every tool has an output schema", async ({ tools }) => yes(tools.every((tool) => tool.outputSchema), "some have none")),
    same("Results tell sizes and kinds as data, not as text alone", async ({ call, tools, at }) => {
      const [name, path] = tools.some(({ name }) => name === "file_info") ? ["file_info", "raw.bin"] : ["get_file_info", at("raw.bin")];
      const told = (await call(name, { path })).structuredContent;
      return yes(typeof (told?.data ?? told)?.size === "number", `structuredContent is ${String(JSON.stringify(told)).slice(0, 21)}…`);
    }),
    same("Tools say whether they only look", async ({ tools }) => yes(tools.every((tool) => tool.annotations?.readOnlyHint !== undefined), "some do not")),
    same("Files are resources too", async ({ client }) => yes(client.getServerCapabilities().resources, "no resources")),
    same("Whoever subscribes to a file is told that it changed", async ({ client, dir }) => {
      if (!client.getServerCapabilities().resources?.subscribe) return "no: no subscriptions";
      let told = 0;
      onUpdated(client, () => (told += 1));
      await client.subscribeResource({ uri: `sandkeep://main${dir}/log.txt` });
      await writeFile(join(dir, "log.txt"), "changed");
      await soon(() => told > 0, "an update");
      return "yes";
    }),
    same("Progress of a long call is told", async ({ client, tools, at }) => {
      const told = [];
      const isOurs = tools.some(({ name }) => name === "search");
      const asked = isOurs
        ? { name: "search", arguments: { content: "needle" } }
        : { name: "search_files", arguments: { path: at("."), pattern: "**/*9*" } };
      await client.callTool(asked, ...rest(client, { onprogress: (note) => told.push(note) }));
      return yes(told.length > 0, "nothing is told");
    }),
  ],
  {
    ask: "Read-only: no tool that writes is offered",
    ours: async ({ dir }) => withAnother("1.x", [binary, "mcp"], [dir, "--read-only"], async ({ tools }) => yes(tools.every((tool) => tool.annotations.readOnlyHint), "some are")),
    theirs: async ({ dir, command }) => withAnother("1.x", command, [dir, "--read-only"], async ({ tools }) => yes(tools.every((tool) => tool.annotations.readOnlyHint), "it takes the flag for a directory")),
  },
  {
    ask: "The protocol of 2026-07-28 is spoken",
    ours: async ({ dir }) => withAnother("2026-07-28", [binary, "mcp"], [dir], async ({ tools }) => yes(tools.length > 0, "no tools")),
    theirs: async ({ dir, command }) => withAnother("2026-07-28", command, [dir], async ({ tools }) => yes(tools.length > 0, "no tools")),
  },
  {
    ask: "The same over HTTP, where a viewer's key is offered only what looks",
    ours: async () => {
      const server = await serve("--store", "memory:");
      const { client, close } = await http("1.x", server, await keyOf(server, { role: "viewer" }));
      const { tools } = await client.listTools();
      await close();
      await server.stop();
      return yes(tools.length > 0 && tools.every((tool) => tool.annotations.readOnlyHint), "it is not");
    },
    theirs: async ({ command }) => yes(/StreamableHTTP/.test(await readFile(command.at(-1), "utf8")), "its program knows stdio alone"),
  },
];

function same(ask, question) {
  return { ask, ours: question, theirs: question };
}

function judge(read) {
  if (read.includes("\ufffd")) return "no: replacement characters";
  return yes(read === "café\n", JSON.stringify(read).slice(0, 60));
}

function exact(read) {
  return yes(Buffer.from(read, "base64").equals(BYTES), JSON.stringify(read).slice(0, 60));
}

function did(result) {
  return yes(!result.isError, text(result).split("\n")[0].replaceAll(/\/\S+/g, "…").slice(0, 70));
}

function ambiguous(result) {
  return yes(result.isError, "the first is changed, without a word");
}

function flood(result) {
  const length = JSON.stringify(result).length;
  if (result.isError) return `no: ${text(result).split("\n")[0].slice(0, 90)}`;
  const goesOn = result.structuredContent?.metadata?.truncated?.next;
  return goesOn && length < 1_000_000 ? "yes" : `no: one answer of ${length.toLocaleString("en")} characters`;
}

async function withAnother(era, command, args, question) {
  const { client, close } = await stdio(era, args, undefined, command);
  try {
    return await question({ client, tools: (await client.listTools()).tools });
  } finally {
    await close();
  }
}

async function prepare() {
  const place = await emptyDirectory();
  const dir = join(place, "files");
  await mkdir(join(dir, "odd"), { recursive: true });
  await mkdir(join(dir, "wide"));
  const files = {
    "spaced.txt": SPACED, "latin.txt": LATIN, "raw.bin": BYTES, "long.txt": LINES, "move.txt": "m",
    "huge.txt": "0123456789abcde\n".repeat(640 * 1024), "log.txt": "", "twice.txt": "same\nsame\n", "odd/new\nline": "",
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(dir, name), content);
  for (let index = 0; index < 5000; index += 1) await writeFile(join(dir, `wide/${index}`), "needle");
  await symlink("/etc/hostname", join(dir, "way-out"));
  return { place, dir };
}

const firstLine = (err) => String(err.message).split("\n")[0].slice(0, 80);
const asResult = (err) => ({ isError: true, content: [{ text: firstLine(err) }] });

async function answers(side) {
  const { place, dir } = await prepare();
  const reference = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-filesystem/package.json");
  const { bin, version } = JSON.parse(await readFile(reference, "utf8"));
  const theirs = [process.execPath, join(dirname(reference), Object.values(bin)[0])];
  const command = side === "ours" ? [binary, "mcp"] : theirs;
  const args = side === "ours" ? [dir, "--snapshots", `file:${join(place, "kept")}`] : [dir];
  const given = [];
  let count;
  for (const question of QUESTIONS) {
    // Each has a connection of its own: one that an answer breaks must not fail the others.
    const { client, close } = await stdio("1.x", args, undefined, command);
    const { tools } = await client.listTools();
    count = tools.length;
    const call = (name, args) => client.callTool({ name, arguments: args }).catch(asResult);
    const context = { client, tools, call, dir, command, at: (name) => join(dir, name) };
    given.push(await question[side](context).catch((err) => `no: ${firstLine(err)}`));
    await close();
  }
  await rm(place, { recursive: true });
  return { given, version, count };
}

/** Where the table is kept. */
export const KEPT = new URL("../../docs/mcp-comparison.md", import.meta.url);

/** Asks both servers everything: the answers to each question, and all of it as a page. */
export async function compare() {
  const [ours, theirs] = [await answers("ours"), await answers("theirs")];
  const given = QUESTIONS.map(({ ask }, index) => ({ ask, ours: ours.given[index], theirs: theirs.given[index] }));
  const rows = given.map((row) => `| ${row.ask} | ${row.ours} | ${row.theirs} |`);
  const page = `# Beside the reference server for files

The same questions, asked by the same client (\`@modelcontextprotocol/sdk\`) of \`sandkeep mcp DIR\` and of npm
\`@modelcontextprotocol/server-filesystem\` ${theirs.version}, each on a directory of its own with the same files. Each answer is what came
of asking, not what a manual says; where there is no tool for something, the list of tools is the answer. Made by
\`cd tests/mcp && npm ci && npm run compare -- --write\`, and compared with what comes of it by \`./test\`.

| | \`sandkeep mcp\` (${ours.count} tools) | \`server-filesystem\` (${theirs.count} tools) |
|---|---|---|
${rows.join("\n")}
`;
  return { given, page };
}
