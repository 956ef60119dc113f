// The ways in which a program reaches a server with the published client. Both give it an empty
// directory that relative paths mean, and the client.

import { rm } from "node:fs/promises";
import { SandboxAgent } from "sandbox-agent";
import { local } from "sandbox-agent/local";
import { binary, emptyDirectory, serve } from "../program.mjs";

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
  const { baseUrl, token, stop } = await serve(root);
  const sdk = await SandboxAgent.connect({ baseUrl, token, ...clientOptions });
  const close = async () => {
    await sdk.dispose();
    await stop();
    await rm(root, { recursive: true });
  };
  return { sdk, root, close };
}
