// docs/guides/tools.md: every example is run, and prints what the guide shows.

import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { readGuide } from "./guide.mjs";
import { assertShown } from "./output.mjs";
import { runCommands } from "./shell.mjs";
import { runTypeScript } from "./typescript.mjs";

const guide = fileURLToPath(new URL("../../docs/guides/tools.md", import.meta.url));
const blocks = await readGuide(guide);

for (const [language, name, run] of [
  ["sh", "the commands of the guide to tools", runCommands],
  ["ts", "the TypeScript of the guide to tools", runTypeScript],
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
