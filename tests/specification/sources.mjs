// Whose code is run: always ours, and that of the specification's text if SANDKEEP_SPECIFICATION
// names a file that holds it. Nothing of it changes but the address, the id and the key.

import { readFile } from "node:fs/promises";
import ts from "typescript";

const specification = process.env.SANDKEEP_SPECIFICATION;
const text = specification ? await readFile(specification, "utf8") : undefined;

/** `connect(base, key)` of each source: the four helpers, and an example that uses them. */
export const helpers = [
  { name: "the helpers", connect: await loaded(await readFile(beside("helpers.ts"), "utf8")) },
  ...(text ? [{ name: "the specification's helpers", connect: await loaded(wrapped(text)) }] : []),
];

/** Shell commands that write `main.py` to `src/main.py`, and a text to `hello.txt`. */
export const writes = [
  { name: "the commands", script: await readFile(beside("writes.sh"), "utf8") },
  ...(text ? [{ name: "the specification's commands", script: commands(text) }] : []),
];

function beside(name) {
  return new URL(name, import.meta.url);
}

async function loaded(source) {
  const options = { target: "es2022", module: "esnext" };
  const { outputText } = ts.transpileModule(source, { compilerOptions: options });
  return (await import(`data:text/javascript,${encodeURIComponent(outputText)}`)).connect;
}

// The text names the address and the key as constants, and uses the helpers at its end.
function wrapped(text) {
  const whole = cut(text, "const BASE", "注意事项");
  const code = whole.replace(/^const BASE.*\n/, "");
  const functions = cut(code, "const AUTH", "// 使用示例");
  const use = code.slice(functions.length);
  return `export function connect(BASE, API_KEY) {
    ${functions}
    const example = async (sbxId) => {
      ${use}
      return { content, listing };
    };
    return { writeFile, readFile, listDir, deleteFile, example };
  }`;
}

function commands(text) {
  const end = '-d "Hello, Sandbox!"';
  return cut(text, "# 上传本地文件", end) + end;
}

function cut(text, from, to) {
  const begin = text.indexOf(from);
  const end = text.indexOf(to, begin);
  if (begin < 0 || end < 0) throw new Error(`no text from ${from} to ${to}`);
  return text.slice(begin, end);
}
