// The commands of a guide as one script, in a directory of its own. It starts its own server, as
// the guide tells its readers to; only the port is another.

import { spawn } from "node:child_process";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { binary, emptyDirectory } from "../program.mjs";
import { asProgram } from "./guide.mjs";
import { byBlock, MARK } from "./output.mjs";

const PORT = /127\.0\.0\.1:2468/g;
const TIME_LIMIT = 60_000;

// Stops at the first command that fails and says where; the server ends with the script.
const PROLOGUE =
  "set -euo pipefail; trap 'kill $(jobs -p) 2>/dev/null || true' EXIT; " +
  'trap \'echo "line $LINENO of the guide failed" >&2\' ERR; ';

/** What each block printed, by its line, and how the script ended. */
export async function runCommands(blocks) {
  const place = await emptyDirectory();
  try {
    const port = await freePort();
    const script = asProgram(blocks, "sh", (line) => `echo "${MARK}${line}"`);
    await writeFile(join(place, "guide.sh"), PROLOGUE + script.replace(PORT, `127.0.0.1:${port}`));
    await mkdir(join(place, "bin"));
    await symlink(binary, join(place, "bin", "sandkeep"));
    return await run(place, port);
  } finally {
    await rm(place, { recursive: true });
  }
}

async function run(place, port) {
  const { HOME: _, SANDKEEP_TOKEN: __, ...inherited } = process.env;
  const env = {
    ...inherited,
    HOME: place,
    XDG_STATE_HOME: join(place, "state"),
    PATH: `${join(place, "bin")}:${process.env.PATH}`,
    SANDKEEP_PORT: String(port),
    SANDKEEP_LOG: "error",
  };
  const child = spawn("bash", ["guide.sh"], { cwd: place, env, timeout: TIME_LIMIT });
  const said = { stdout: "", stderr: "" };
  for (const name of Object.keys(said)) {
    child[name].setEncoding("utf8").on("data", (text) => (said[name] += text));
  }
  const code = await new Promise((resolve) => child.once("close", resolve));
  return { code, printed: byBlock(said.stdout), stderr: said.stderr };
}

async function freePort() {
  const listener = createServer();
  await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  return port;
}
