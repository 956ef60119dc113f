// What a program printed, block by block, and whether it is what the guide shows.

import assert from "node:assert/strict";

// A character that no output holds, before the line of the block that begins.
export const MARK = "\u001e";

/** What was printed between two announcements, by the line of the block. */
export function byBlock(printed) {
  const parts = printed.split(MARK).slice(1);
  return new Map(
    parts.map((part) => {
      const end = part.indexOf("\n");
      return [Number(part.slice(0, end)), part.slice(end + 1)];
    }),
  );
}

/** Compares line by line; `…` in the guide stands for anything that differs from run to run. */
export function assertShown(printed, shown) {
  const lines = shown.split("\n").map((line) => line.split("…").map(literal).join(".*"));
  const pattern = new RegExp(`^${lines.join("\n")}$`);
  if (!pattern.test(printed.trim())) assert.equal(printed.trim(), shown);
}

function literal(text) {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
