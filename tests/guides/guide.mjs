// A guide, cut into the examples that it shows.

import { readFile } from "node:fs/promises";

/** What is run, and what shows the output of the example before it. */
const PROGRAMS = ["ts", "sh"];
const OUTPUTS = ["json", "text"];

/**
 * The blocks of a guide in their order: `{ language, line, text, heading, output? }`. A block that
 * could neither be run nor compared fails, so that none is shown that nobody tried.
 */
export async function readGuide(path) {
  const blocks = [];
  let open, heading;
  for (const [index, text] of (await readFile(path, "utf8")).split("\n").entries()) {
    const line = index + 1;
    if (open && text === "```") {
      take(blocks, open);
      open = undefined;
    } else if (open) {
      open.lines.push(text);
    } else if (text.startsWith("```")) {
      open = { language: text.slice(3), line, heading, lines: [] };
    } else if (text.startsWith("#")) {
      heading = text.replace(/^#+ /, "");
    }
  }
  if (open) throw new Error(`line ${open.line}: the block has no end`);
  return blocks;
}

function take(blocks, { language, line, heading, lines }) {
  const text = lines.join("\n");
  if (PROGRAMS.includes(language)) {
    blocks.push({ language, line, heading, text, output: shown(language, line, lines) });
    return;
  }
  const before = blocks.at(-1);
  if (!OUTPUTS.includes(language)) throw new Error(`line ${line}: nobody can run ${language}`);
  if (before?.language !== "sh" || before.output !== undefined) {
    throw new Error(`line ${line}: no commands stand before this output`);
  }
  before.output = text;
}

// TypeScript says in a comment beside each `console.log` what it prints.
function shown(language, line, lines) {
  if (language !== "ts") return undefined;
  const printing = lines.flatMap((text, index) =>
    text.includes("console.log(") ? [{ text, line: line + index + 1 }] : [],
  );
  return printing
    .map(({ text, line }) => {
      const comment = text.match(/; \/\/ (.*)$/);
      if (!comment) throw new Error(`line ${line}: it does not say what is printed`);
      return comment[1];
    })
    .join("\n");
}

/**
 * All blocks of one language as one program, each line where it stands in the guide, so that
 * whoever complains of a line names that of the guide. `announce(line)` is a statement that is run
 * before the block whose fence is on that line.
 */
export function asProgram(blocks, language, announce) {
  const lines = [];
  for (const { line, text } of blocks.filter((block) => block.language === language)) {
    lines[line - 1] = announce(line);
    for (const [index, own] of text.split("\n").entries()) lines[line + index] = own;
  }
  return Array.from(lines, (line) => line ?? "").join("\n");
}
