// docs/guides/file-system.md: every example is run, and prints what the guide shows.

import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { readGuide } from "./guide.mjs";
import { assertShown } from "./output.mjs";
import { runCommands } from "./shell.mjs";
import { runTypeScript } from "./typescript.mjs";

const guide = fileURLToPath(new URL("../../docs/guides/file-system.md", import.meta.url));
const blocks = await readGuide(guide);

const OPERATIONS = [
  "List",
  "Read",
  "Write",
  "Make directories",
  "Move",
  "Copy",
  "Delete",
  "Stat",
  "Upload many files",
  "Download many files",
  "Ranges",
  "Conditional writes",
  "Search",
  "Edit",
  "Watch",
  "Snapshots",
];

describe("the guide to files", () => {
  it("has a TypeScript and a curl example for every operation", () => {
    for (const operation of OPERATIONS) {
      const own = blocks.filter(({ heading }) => heading === operation);
      assert.ok(own.some(({ language }) => language === "ts"), `${operation}: no TypeScript`);
      const commands = own.filter(({ language }) => language === "sh");
      assert.ok(commands.some(({ text }) => /\bcurl |\brpc /.test(text)), `${operation}: no curl`);
    }
  });
});

for (const [language, name, run] of [
  ["sh", "the commands of the guide to files", runCommands],
  ["ts", "the TypeScript of the guide to files", runTypeScript],
]) {
  describe(name, () => {
    let ran;
    before(async () => (ran = await run(blocks)));

    for (const { line, heading, output } of blocks.filter((one) => one.language === language)) {
      it(`does what it shows under ${heading}, line ${line}`, () => {
        assert.ok(ran.printed.has(line), `it was not reached:\n${ran.stderr}`);
        if (output !== undefined) assertShown(ran.printed.get(line), output);
      });
    }

    it("runs to its end", () => assert.equal(ran.code, 0, ran.stderr));
  });
}
