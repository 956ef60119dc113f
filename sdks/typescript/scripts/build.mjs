// Makes dist/esm and dist/cjs, each with its types, out of src.

import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const home = fileURLToPath(new URL("..", import.meta.url));
const tsc = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));

rmSync(`${home}/dist`, { recursive: true, force: true });
const statuses = await Promise.all(["tsconfig.json", "tsconfig.cjs.json"].map(compiled));
if (statuses.some((status) => status !== 0)) process.exit(1);
// The package is of type `module`; what lies in this directory is not.
writeFileSync(`${home}/dist/cjs/package.json`, '{ "type": "commonjs" }\n');

function compiled(project) {
  const child = spawn(process.execPath, [tsc, "-p", project], { cwd: home, stdio: "inherit" });
  return new Promise((resolve) => child.on("exit", resolve));
}
