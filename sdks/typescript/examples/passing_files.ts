// A workflow of two steps that know nothing of each other but the files that one leaves for the other.
//
//   SANDKEEP_URL=http://127.0.0.1:2468 SANDKEEP_TOKEN=… node passing_files.js

import { Sandkeep } from "sandkeep";
import { createTools, dataOf, type Tools } from "sandkeep/tools";

/** What happened, as the first step found it. */
const EVENTS = [
  { day: "monday", visitors: 120 },
  { day: "tuesday", visitors: 80 },
  { day: "wednesday", visitors: 130 },
];

/** Writes what it found, one file for each, and a picture of it, which is no text. */
async function collect({ writeFile, batch }: Tools): Promise<void> {
  const steps = EVENTS.map((event) => {
    const [path, content] = [`inbox/${event.day}.json`, JSON.stringify(event)];
    return { operation: "write" as const, path, content };
  });
  // All of them or none: the next step never sees half of the work.
  dataOf(await batch.execute({ steps }));
  const picture = Uint8Array.from(EVENTS, ({ visitors }) => visitors);
  dataOf(await writeFile.execute({ path: "inbox/visitors.raw", content: picture }));
}

/** Takes what is there, makes a report of it, and clears up. Answers where the report is. */
async function report(tools: Tools): Promise<string> {
  const { entries } = dataOf(
    await tools.listDirectory.execute({ path: "inbox", pattern: "*.json" }),
  );
  const lines: string[] = [];
  for (const { path } of entries) {
    const { content } = dataOf(await tools.readFile.execute({ path }));
    const { day, visitors } = JSON.parse(content) as (typeof EVENTS)[number];
    lines.push(`${day}: ${visitors}`);
  }
  const raw = dataOf(await tools.readFile.execute({ path: "inbox/visitors.raw" }, { as: "bytes" }));
  const total = raw.content.reduce((sum, visitors) => sum + visitors, 0);
  const content = `${lines.join("\n")}\nall together: ${total}\n`;
  const { path } = dataOf(await tools.writeFile.execute({ path: "reports/visitors.txt", content }));
  dataOf(await tools.delete.execute({ path: "inbox", recursive: true }));
  return path;
}

const keep = new Sandkeep({
  baseUrl: process.env.SANDKEEP_URL ?? "http://127.0.0.1:2468",
  token: process.env.SANDKEEP_TOKEN,
});
const sandbox = await keep.sandboxes.create({ labels: { workflow: "visitors" } });

// The first step may go nowhere but to where the second one looks.
await collect(createTools(sandbox, { allowedPaths: ["inbox"], timeoutMs: 10_000 }));
const tools = createTools(sandbox, { timeoutMs: 10_000 });
const path = await report(tools);

console.log(dataOf(await tools.readFile.execute({ path })).content);
console.log((await tools.readFile.execute({ path: "inbox/monday.json" })).error);
