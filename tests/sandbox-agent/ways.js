// The ways in which a program reaches a server with the published client. Both give it an empty
// directory that relative paths mean, and the client.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { SandboxAgent } from "sandbox-agent";
import { local } from "sandbox-agent/local";

const binary =
  process.env.SANDKEEP_BIN ??
  fileURLToPath(new URL("../../target/debug/sandkeep", import.meta.url));

export const ways = [
  { name: "started by the package's own local()", open: openLocal },
  { name: "connected to sandkeep serve", open: openConnected },
];

async function openLocal() {
  const root = await emptyDirectory();
  const sandbox = local({ binaryPath: binary, log: "silent", env: { HOME: root } });
  const sdk = await SandboxAgent.start({ sandbox });
  const close = async () => {
    await sdk.destroySandbox();
    await rm(root, { recursive: true });
  };
  return { sdk, root, close };
}

/** The second way, with options of the client's own. */
export async function openConnected(clientOptions = {}) {
  const root = await emptyDirectory();
  const { child, baseUrl, token } = await serve(root);
  const sdk = await SandboxAgent.connect({ baseUrl, token, ...clientOptions });
  const close = async () => {
    await sdk.dispose();
    await stopped(child);
    await rm(root, { recursive: true });
  };
  return { sdk, root, close };
}

async function emptyDirectory() {
  return realpath(await mkdtemp(join(tmpdir(), "sandkeep-sdk-")));
}

async function serve(root) {
  const token = randomBytes(16).toString("hex");
  const args = ["serve", root, "--port", "0", "--token", token, "--json"];
  const env = { ...process.env, SANDKEEP_LOG: "error" };
  const child = spawn(binary, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) {
    return { child, token, baseUrl: JSON.parse(line).url };
  }
  throw new Error(`${binary} ended before it said where it listens`);
}

async function stopped(child) {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}
