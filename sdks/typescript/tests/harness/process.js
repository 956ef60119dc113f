// The runner as a process of Node, Deno or Bun: `process.js SETTING`, one outcome a line.

import { run } from "./runner.js";

const args = globalThis.Deno?.args ?? process.argv.slice(2);
const setting = JSON.parse(args[0]);
const asked = new Set();

/** Which routes were asked, so that none is forgotten. */
async function recording(url, init) {
  const { pathname } = new URL(url);
  asked.add(`${init.method} ${pathname}`);
  return fetch(url, init);
}

if (setting.records) setting.fetch = recording;
await run(setting, (outcome) => console.log(JSON.stringify(outcome)));
console.log(JSON.stringify({ asked: [...asked] }));
// What a test left open is not waited for.
globalThis.Deno === undefined ? process.exit(0) : globalThis.Deno.exit(0);
