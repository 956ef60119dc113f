// A server, nginx in front of it, and a sandbox that is a directory, so that large files are cheap.

import { serveSandboxes } from "../program.mjs";
import { startNginx } from "./nginx.js";

export async function open({ replace, args = [] } = {}) {
  const server = await serveSandboxes(...args);
  const nginx = await startNginx(server.place, [server.baseUrl], replace).catch(async (error) => {
    await server.close();
    throw error;
  });
  const { id } = await server.ask("/v1/sandboxes", { kind: "host" });
  const { key } = await server.ask("/v1/keys", { role: "developer", sandboxes: [id] });
  const close = async () => {
    await nginx.stop();
    await server.close();
  };
  return {
    ask: server.ask,
    place: server.place,
    nginx,
    root: `/v1/sandboxes/${id}`,
    proxied: { url: nginx.url, certificate: nginx.certificate, key },
    direct: { url: server.baseUrl, key },
    close,
  };
}
