// npm run compare            prints how we stand beside the reference server for files
// npm run compare -- --write writes it to docs/mcp-comparison.md

import { writeFile } from "node:fs/promises";

import { compare, KEPT } from "./comparison.mjs";

const { page } = await compare();
if (process.argv.includes("--write")) await writeFile(KEPT, page);
console.log(page);
