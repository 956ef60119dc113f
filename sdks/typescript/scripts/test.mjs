// Everything that is checked of this package, part by part, and how long each took.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const home = fileURLToPath(new URL("..", import.meta.url));
const biome = fileURLToPath(import.meta.resolve("@biomejs/biome/bin/biome"));

const PARTS = {
  "the shapes are those of the contract": ["scripts/generate.mjs", "--check"],
  "the tools are those of the contract": ["scripts/generate_tools.mjs", "--check"],
  "the code is formatted and without warnings": [biome, "ci", "--colors=off", "."],
  "it builds, with its types": ["scripts/build.mjs"],
  "its promises, in every runtime, and its memory": tests("runtimes", "memory", "restart"),
  "the package as it is installed, and the examples of the README": tests("package", "readme"),
  "the tools as they are installed, with frameworks": tests("tools"),
};

function tests(...names) {
  const files = names.map((name) => `tests/${name}.test.js`);
  return ["--test", "--test-reporter=./scripts/reporter.mjs", ...files];
}

const failed = [];
for (const [name, args] of Object.entries(PARTS)) {
  const begun = Date.now();
  const { status } = spawnSync(process.execPath, args, { cwd: home, stdio: "inherit" });
  if (status !== 0) failed.push(name);
  const seconds = ((Date.now() - begun) / 1000).toFixed(1);
  console.log(`${status === 0 ? "passed" : "FAILED"} in ${seconds.padStart(5)} s: ${name}`);
}
process.exitCode = failed.length === 0 ? 0 : 1;
