// What passes through nginx as deploy/nginx configures it, and how.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { answer, ask, begin, whole } from "./client.js";
import { open } from "./setting.js";

const TEXT = "one line, and another line\n".repeat(100);

describe("nginx in front of the server", () => {
  let setting, proxied, direct, root, file;
  before(async () => {
    setting = await open({ args: ["--cors-allow-origin", "https://ide.example.org"] });
    ({ proxied, direct, root } = setting);
    file = (path) => `${root}/fs/${path}`;
  });
  after(() => setting.close());

  it("passes every method that is used", async () => {
    assert.equal((await ask(proxied, file("a"), { method: "PUT", body: TEXT })).status, 204);
    const head = await ask(proxied, file("a"), { method: "HEAD" });
    assert.deepEqual([head.status, head.headers["content-length"]], [200, `${TEXT.length}`]);
    const append = { method: "PATCH", headers: { "x-append": "1" }, body: "end" };
    assert.equal((await ask(proxied, file("a"), append)).status, 204);
    assert.equal((await ask(proxied, file("a"))).body.toString(), `${TEXT}end`);
    assert.equal((await ask(proxied, file("a"), { method: "DELETE" })).status, 204);
    assert.equal((await ask(proxied, file("a"))).status, 404);
    assert.equal((await ask(proxied, `${root}/fs-mkdir/made`, { method: "POST" })).status, 200);
  });

  it("leaves ranges, versions and conditions as they are", async () => {
    await ask(proxied, file("ranged"), { method: "PUT", body: TEXT });
    const straight = await ask(direct, file("ranged"));
    const gzip = { "accept-encoding": "gzip" };
    const there = await ask(proxied, `${file("ranged")}?inline=1`, { headers: gzip });
    assert.equal(there.headers.etag, straight.headers.etag);
    assert.equal(there.headers["content-encoding"], undefined);
    assert.equal(there.body.toString(), TEXT);
    const range = { range: "bytes=4-7", "if-range": there.headers.etag };
    const part = await ask(proxied, file("ranged"), { headers: range });
    assert.deepEqual([part.status, part.body.toString()], [206, "line"]);
    assert.equal(part.headers["content-range"], `bytes 4-7/${TEXT.length}`);
    const known = { "if-none-match": there.headers.etag };
    assert.equal((await ask(proxied, file("ranged"), { headers: known })).status, 304);
    const put = (headers) => ask(proxied, file("ranged"), { method: "PUT", headers, body: "new" });
    assert.equal((await put({ "if-match": '"another"' })).status, 412);
    assert.equal((await put({ "if-match": there.headers.etag })).status, 204);
  });

  // Each goes to both, and the server says the same to both.
  for (const trick of [
    "../x", "a/../../x", "%2e%2e/x", "..%2fx", "%2e%2e%2fx", "a/..%2f..%2fx", "a%2F..%2F..%2Fx", "./x",
    "a/./x", "a//x", "%2Fetc%2Fpasswd", "..%5cx", "..;/x", "%252e%252e%252fx", "%c0%ae%c0%ae/x", ".%2e/x",
  ]) {
    it(`leaves it to the server to judge ${trick}`, async () => {
      const [here, there] = await Promise.all([ask(direct, file(trick)), ask(proxied, file(trick))]);
      assert.equal(there.status, here.status);
      assert.deepEqual(JSON.parse(there.body), JSON.parse(here.body));
    });
  }

  it("lets nobody climb out of a sandbox", async () => {
    for (const trick of ["../x", "%2e%2e%2fx", "a/..%2f..%2fx", "a%2F..%2F..%2Fx"]) {
      for (const method of ["GET", "PUT", "DELETE"]) {
        const { status } = await ask(proxied, file(trick), { method });
        assert.equal(status, 403, `${method} ${trick}`);
      }
    }
    // What climbs above the address itself nginx does not even pass on.
    const { status } = await ask(proxied, file("%2e%2e/".repeat(9)));
    assert.equal(status, 400);
  });

  it("keeps the spelling of every name", async () => {
    for (const name of ["a b", "100%", "q?", "#1", "a;b=c", "a+b", "ü 文 🦀", "%2F", "%41", "-delete"]) {
      const path = file(`names/${encodeURIComponent(name)}`);
      assert.equal((await ask(proxied, path, { method: "PUT", body: name })).status, 204);
      assert.equal((await ask(direct, path)).body.toString(), name);
    }
    const listing = JSON.parse((await ask(proxied, `${root}/fs-list/names`)).body);
    assert.equal(listing.total, 10);
    assert.ok(listing.entries.some(({ name }) => name === "%2F"));
  });

  it("passes the longest path", async () => {
    const name = encodeURIComponent("文".repeat(80));
    const path = file(`${`${name}/`.repeat(16)}end`);
    assert.ok(path.length > 11_000);
    assert.equal((await ask(proxied, path, { method: "PUT", body: "x" })).status, 204);
    assert.equal((await ask(proxied, path)).body.toString(), "x");
  });

  it("passes signed addresses, and keeps them out of its log", async () => {
    const sign = (access) => setting.ask(`${root}/sign`, { path: "signed", access });
    const stranger = { ...proxied, key: undefined };
    const { url: write } = await sign("write");
    assert.equal((await ask(stranger, write, { method: "PUT", body: "by all" })).status, 204);
    const { url: read } = await sign("read");
    assert.equal((await ask(stranger, read)).body.toString(), "by all");
    assert.equal((await ask(stranger, file("signed"))).status, 401);
    const log = await setting.nginx.accessLog();
    assert.ok(log.includes(`"GET ${file("signed")}" 200`), log);
    assert.ok(!log.includes("signed="), log);
  });

  it("logs each request under the id that the server knows it by", async () => {
    const given = await ask(proxied, `${root}/fs-list`, { headers: { "x-request-id": "mine-42" } });
    assert.equal(given.headers["x-request-id"], "mine-42");
    const made = await ask(proxied, `${root}/fs-list`);
    const log = await setting.nginx.accessLog();
    assert.ok(log.includes(" mine-42\n"));
    assert.ok(log.includes(` ${made.headers["x-request-id"]}\n`));
  });

  it("passes the wishes of web pages", async () => {
    const headers = {
      origin: "https://ide.example.org",
      "access-control-request-method": "PUT",
      "access-control-request-headers": "authorization",
    };
    const asked = await ask(proxied, file("a"), { method: "OPTIONS", key: undefined, headers });
    assert.equal(asked.headers["access-control-allow-origin"], "https://ide.example.org");
  });

  it("takes uploads over HTTP/2, and those that ask first", async () => {
    const local = join(setting.place, "local");
    await writeFile(local, TEXT.repeat(1000));
    const common = ["-sS", "-o", "-", "-w", "%{http_version} %{http_code}", "-T", local];
    const key = ["-H", `Authorization: Bearer ${proxied.key}`];
    const trust = ["--cacert", setting.nginx.certificateFile];
    const curl = async (...args) =>
      (await promisify(execFile)("curl", [...common, ...key, ...trust, ...args])).stdout;
    const address = `${proxied.url}${file("by-curl")}`;
    assert.equal(await curl("--http2", address), "2 204");
    assert.equal(await curl("--http1.1", "-H", "Expect: 100-continue", address), "1.1 204");
    assert.equal((await ask(proxied, file("by-curl"))).body.length, TEXT.length * 1000);
  });

  it("answers to whoever has no key before his upload ends", async () => {
    const headers = { "content-length": 1 << 30 };
    const request = begin(proxied, file("refused"), { method: "PUT", key: "wrong", headers });
    request.on("error", () => {});
    request.write(Buffer.alloc(1 << 20));
    const { status, body } = await whole(await answer(request));
    assert.equal(status, 401, body.toString());
    request.destroy();
  });

  it("leaves it to the server to say what is too large", async () => {
    const limits = { file_size: 1 << 20 };
    const { id } = await setting.ask("/v1/sandboxes", { limits });
    const { key } = await setting.ask("/v1/keys", { role: "developer", sandboxes: [id] });
    const path = `/v1/sandboxes/${id}/fs/large`;
    const put = { method: "PUT", key, body: Buffer.alloc(5 << 20) };
    const [here, there] = [await ask(direct, path, put), await ask(proxied, path, put)];
    assert.equal(there.status, here.status);
    assert.deepEqual(JSON.parse(there.body), JSON.parse(here.body));
    assert.match(there.headers["content-type"], /json/);
  });

  it("sends http to https", async () => {
    const plain = { url: setting.nginx.plainUrl };
    const { status, headers } = await ask(plain, file("a?b=%2F"), { headers: { host: "x.example" } });
    assert.deepEqual([status, headers.location], [301, `https://x.example${file("a?b=%2F")}`]);
  });
});
