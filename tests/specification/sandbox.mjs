// A sandbox of a server of its own, and a key for it.

import { serveSandboxes } from "../program.mjs";

export const kinds = ["virtual", "host"];

export async function openSandbox(kind, role) {
  const server = await serveSandboxes();
  const { id } = await server.ask("/v1/sandboxes", { kind });
  const { key } = await server.ask("/v1/keys", { role, sandboxes: [id] });
  return { ...server, baseUrl: server.baseUrl.replace(/\/$/, ""), id, key };
}
