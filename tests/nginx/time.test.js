// What takes long: events, and clients that are slow. The timeouts of the configuration are made
// shorter where a test would have to wait for them.

import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { answer, ask, begin, whole } from "./client.js";
import { rules } from "./nginx.js";
import { open } from "./setting.js";

// They wait more than they work, so that they do it together.
describe("the timeouts of the configuration", { concurrency: true }, () => {
  it("are longer than those of the server, and connections end on its side first", async () => {
    const seconds = async (file, name) =>
      Number(new RegExp(`^\\s*${name} (\\d+)s;`, "m").exec(await rules(file))[1]);
    // Behind these figures: the patience of the server with a body, of a server with the one that
    // leads a sandbox, and with a connection that nobody uses.
    assert.ok((await seconds("proxy.conf", "client_body_timeout")) > 30);
    assert.ok((await seconds("proxy.conf", "proxy_send_timeout")) > 300);
    assert.ok((await seconds("proxy.conf", "proxy_read_timeout")) > 300);
    assert.ok((await seconds("site.conf", "keepalive_timeout")) < 60);
    assert.ok((await seconds("balancer.conf", "keepalive_timeout")) < 60);
  });

  it("are about pauses, not about whole uploads", async () => {
    const replace = [["client_body_timeout 60s", "client_body_timeout 1s"], ["330s", "1s"]];
    const { proxied, root, close } = await open({ replace });
    try {
      assert.equal((await drip(proxied, `${root}/fs/slow`, 100, 30)).status, 204);
      assert.equal((await ask(proxied, `${root}/fs/slow`)).body.length, 30);
      await assert.rejects(drip(proxied, `${root}/fs/stalled`, 2500, 3));
      assert.equal((await ask(proxied, `${root}/fs/stalled`)).status, 404);
    } finally {
      await close();
    }
  });

  it("let fs-watch tell of a change at once, and stay open while nothing happens", async () => {
    // Longer than the 15 s between two signs of life, and shorter than this test.
    const { proxied, root, close } = await open({ replace: [["330s", "17s"]] });
    try {
      const events = await watch(proxied, `${root}/fs-watch`);
      await events.until(/"change":"here"/, 1000);
      await ask(proxied, `${root}/fs/first`, { method: "PUT", body: "x" });
      await events.until(/"path":"first"/, 1000);
      const begun = Date.now();
      // A comment is a sign of life.
      await events.until(/^:/, 16_500);
      await pause(begun + 18_000 - Date.now());
      await ask(proxied, `${root}/fs/second`, { method: "PUT", body: "x" });
      await events.until(/"path":"second"/, 1000);
      events.close();
    } finally {
      await close();
    }
  });
});

/** An upload of so many bytes, with a pause after each. */
async function drip(to, path, milliseconds, bytes) {
  const headers = { "content-length": bytes };
  const request = begin(to, path, { method: "PUT", headers });
  const answered = answer(request);
  answered.catch(() => {});
  for (let sent = 0; sent < bytes; sent += 1) {
    request.write("x");
    await Promise.race([pause(milliseconds), answered]);
  }
  request.end();
  const told = await whole(await answered);
  if (told.status >= 400) throw new Error(`${told.status}`);
  return told;
}

/** A stream of events, each of which is waited for until it is late. */
async function watch(to, path) {
  const request = begin(to, path, { headers: { accept: "text/event-stream" } });
  request.end();
  const response = await answer(request);
  assert.equal(response.statusCode, 200);
  assert.match(response.headers["content-type"], /^text\/event-stream/);
  response.setEncoding("utf8");
  let text = "";
  response.on("data", (piece) => (text += piece));
  async function until(pattern, milliseconds) {
    const late = AbortSignal.timeout(milliseconds);
    for (;;) {
      while (!text.includes("\n\n")) await once(response, "data", { signal: late });
      const event = text.slice(0, text.indexOf("\n\n"));
      text = text.slice(event.length + 2);
      if (pattern.test(event)) return;
    }
  }
  return { until, close: () => request.destroy() };
}

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
