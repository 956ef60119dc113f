// Whose commands are run: always ours, and those of the specification's text for agents if
// SANDKEEP_SPECIFICATION_V2 names a file that holds it. Nothing of it changes but the address.

import { readFile } from "node:fs/promises";

const BLOCKS = ["list", "bytes", "mkdir", "move", "tar"];
const specification = process.env.SANDKEEP_SPECIFICATION_V2;

/** Shell commands of each source, by what they are about. */
export const sources = [
  { name: "our commands", scripts: own(await readFile(beside("agents.sh"), "utf8")) },
  ...(specification
    ? [{ name: "the specification's commands", scripts: cut(await readFile(specification, "utf8")) }]
    : []),
];

function beside(name) {
  return new URL(name, import.meta.url);
}

function own(text) {
  const parts = text.split(/^# (list|bytes|mkdir|move|tar)$/m).slice(1);
  return Object.fromEntries(BLOCKS.map((name) => [name, parts[parts.indexOf(name) + 1]]));
}

// A copy of the text may have lost its line ends: they are put back before commands and behind
// backslashes, where the shell needs them.
function cut(text) {
  const blocks = [...text.matchAll(/```bash cURL\s(.*?)```/gs)].map(([, block]) => block);
  if (blocks.length !== BLOCKS.length) throw new Error(`${blocks.length} examples by curl`);
  const commands = (block) =>
    block
      .replaceAll(/ \\ /g, " \\\n ")
      .replaceAll(/\s(?=curl -X )/g, "\necho\n")
      .replaceAll("http://127.0.0.1:2468", "$BASE_URL");
  return Object.fromEntries(BLOCKS.map((name, at) => [name, commands(blocks[at])]));
}
