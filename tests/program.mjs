// The program under test, as an operator starts it, and what is asked of it before a test begins.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const binary =
  process.env.SANDKEEP_BIN ?? fileURLToPath(new URL("../target/debug/sandkeep", import.meta.url));

export async function emptyDirectory() {
  return realpath(await mkdtemp(join(tmpdir(), "sandkeep-test-")));
}

/** A server on a port of its own: `sandkeep serve` with these arguments. */
export async function serve(...args) {
  return serveAt(0, randomBytes(16).toString("hex"), ...args);
}

/** A server whose port and token are known before. */
export async function serveAt(port, token, ...args) {
  const all = ["serve", ...args, "--port", String(port), "--token", token, "--json"];
  const env = { ...process.env, SANDKEEP_LOG: "error" };
  const child = spawn(binary, all, { env, stdio: ["ignore", "pipe", "inherit"] });
  const ends = { stop: () => stopped(child), kill: () => stopped(child, "SIGKILL") };
  for await (const line of createInterface({ input: child.stdout })) {
    return { token, baseUrl: JSON.parse(line).url, pid: child.pid, ...ends };
  }
  throw new Error(`${binary} ended before it said where it listens`);
}

export async function stopped(child, signal = "SIGTERM") {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await ended;
}

/** A server of many sandboxes, and a place for those of kind `host`. */
export async function serveSandboxes(...args) {
  const place = await emptyDirectory();
  const hostRoot = join(place, "sandboxes");
  const server = await serve("--store", "memory:", "--host-roots", hostRoot, ...args);
  const ask = (path, body) => post(server, path, body);
  const close = async () => {
    await server.stop();
    await rm(place, { recursive: true });
  };
  return { ...server, place, hostRoot, ask, close };
}

/** What the owner of a server asks for in JSON. */
async function post({ baseUrl, token }, path, body) {
  const answer = await fetch(new URL(path, baseUrl), {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}
