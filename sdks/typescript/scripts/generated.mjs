// What is made of the contract is kept, or with `--check` compared with what was kept.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const home = fileURLToPath(new URL("..", import.meta.url));

/** Writes a file of `text`, which was made of `source`; or says that it is not current. */
export function kept(path, source, text) {
  const made = formatted(path, text);
  if (!process.argv.includes("--check")) return writeFileSync(`${home}/${path}`, made);
  if (readFileSync(`${home}/${path}`, "utf8") === made) return;
  console.error(`${path} is not what ${source} says: run \`npm run generate\``);
  process.exitCode = 1;
}

/** `next_cursor` is `nextCursor` here. */
export function camel(name) {
  return name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
}

function formatted(path, text) {
  const biome = fileURLToPath(import.meta.resolve("@biomejs/biome/bin/biome"));
  const args = [biome, "format", `--stdin-file-path=${path}`];
  return execFileSync(process.execPath, args, { cwd: home, input: text, encoding: "utf8" });
}
