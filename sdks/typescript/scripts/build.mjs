// Makes dist/esm and dist/cjs, each with its types, out of src.

import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const home = fileURLToPath(new URL("..", import.meta.url));
const tsc = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));

rmSync(`${home}/dist`, { recursive: true, force: true });
for (const project of ["tsconfig.json", "tsconfig.cjs.json"]) {
  execFileSync(process.execPath, [tsc, "-p", project], { cwd: home, stdio: "inherit" });
}
// The package is of type `module`; what lies in this directory is not.
writeFileSync(`${home}/dist/cjs/package.json`, '{ "type": "commonjs" }\n');
