// How we stand beside the reference server for files.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { compare, KEPT } from "./comparison.mjs";

test("we can do all that is asked, and the page says what each of both can", async () => {
  const { given } = await compare();
  for (const { ask, ours } of given) assert.equal(ours, "yes", ask);
  // What the other one cannot do it says in changing words; that it cannot does not change.
  const verdict = (answer) => answer.split(":")[0];
  const kept = await readFile(KEPT, "utf8");
  const rows = kept.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| |"));
  const told = rows.map((row) => row.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")));
  assert.deepEqual(
    told.map(([ask, ours, theirs]) => [ask, verdict(ours), verdict(theirs)]),
    given.map(({ ask, ours, theirs }) => [ask, verdict(ours), verdict(theirs)]),
  );
});
