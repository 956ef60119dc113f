// What nginx says to servers, seen from their side. These take a request and leave without an answer.

import assert from "node:assert/strict";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer } from "node:net";
import { after, before, beforeEach, describe, it } from "node:test";
import { emptyDirectory } from "../program.mjs";
import { ask } from "./client.js";
import { startNginx } from "./nginx.js";

describe("nginx, as two servers see it", () => {
  const requests = [];
  let place, servers, nginx;
  before(async () => {
    place = await emptyDirectory();
    servers = [await leaving(requests), await leaving(requests)];
    const urls = servers.map((server) => `http://127.0.0.1:${server.address().port}`);
    nginx = await startNginx(place, urls);
  });
  beforeEach(() => requests.splice(0));
  after(async () => {
    await nginx.stop();
    servers.forEach((server) => server.close());
    await rm(place, { recursive: true });
  });

  for (const method of ["PUT", "DELETE", "PATCH", "POST"]) {
    it(`sends a ${method} once, because it may have happened`, async () => {
      const { status } = await ask(nginx, "/v1/sandboxes/a/fs/b", { method, body: "x" });
      assert.equal(status, 502);
      assert.equal(requests.length, 1);
    });
  }

  it("asks the other server what the first did not answer", async () => {
    assert.equal((await ask(nginx, "/v1/sandboxes/a/fs/b")).status, 502);
    assert.equal(requests.length, 2);
  });

  it("passes on the address, the host and the port as the client spoke them", async () => {
    const path = "/v1/sandboxes/a/fs/%2e%2e%2f//b%2Fc/%41?x=%2F&y";
    for (const method of ["GET", "PUT"]) {
      requests.splice(0);
      await ask(nginx, path, { method, key: "ask_a_b" });
      const [line, ...headers] = requests[0].split("\r\n");
      assert.equal(line, `${method} ${path} HTTP/1.1`);
      assert.ok(headers.includes(`Host: localhost:${nginx.port}`), requests[0]);
      assert.ok(headers.includes("authorization: Bearer ask_a_b"), requests[0]);
      assert.ok(!headers.some((header) => /^connection:/i.test(header)), requests[0]);
    }
  });
});

async function leaving(requests) {
  const server = createServer((socket) => {
    let text = "";
    socket.on("error", () => {});
    socket.on("data", (piece) => {
      text += piece;
      if (!text.includes("\r\n\r\n")) return;
      requests.push(text);
      socket.destroy();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}
