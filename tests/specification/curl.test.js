// curl as users call it, in both kinds of sandboxes, with a key for one sandbox.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { kinds, openSandbox } from "./sandbox.mjs";
import { writes } from "./sources.mjs";

const FILES = '"$BASE_URL/v1/sandboxes/$SBX_ID/fs';
const KEY = '-H "Authorization: Bearer $API_KEY"';
const STATUS = "-w '%{http_code}'";

for (const kind of kinds) {
  describe(`curl, in a ${kind} sandbox`, () => {
    let place, close, shell;
    before(async () => {
      const opened = await openSandbox(kind, "developer");
      ({ place, close } = opened);
      const names = { BASE_URL: opened.baseUrl, SBX_ID: opened.id, API_KEY: opened.key };
      const options = { cwd: place, env: { ...process.env, ...names }, encoding: "buffer" };
      shell = async (script) =>
        (await promisify(execFile)("sh", ["-euc", script], options)).stdout.toString();
    });
    after(() => close());

    for (const { name, script } of writes) {
      it(`writes a file and a text by ${name}`, async () => {
        // Line ends, NUL and a last line without an end: nothing of it may be changed on the way.
        const bytes = Buffer.concat([Buffer.from("one\r\ntwo\n\0"), randomBytes(3 << 20)]);
        await writeFile(join(place, "main.py"), bytes);
        assert.equal(await shell(script), "");
        await shell(`curl -sf ${KEY} -o back.py ${FILES}/src/main.py"`);
        assert.ok(bytes.equals(await readFile(join(place, "back.py"))));
        assert.equal(await shell(`curl -s ${KEY} ${FILES}/hello.txt"`), "Hello, Sandbox!");
      });
    }

    it("says 204 to a write by either form", async () => {
      await writeFile(join(place, "some.txt"), "some");
      const type = '-H "Content-Type: application/octet-stream"';
      const put = `curl -s ${STATUS} -X PUT ${KEY} ${type} ${FILES}/forms/a"`;
      assert.equal(await shell(`${put} --data-binary @./some.txt`), "204");
      assert.equal(await shell(`${put} -d "text"`), "204");
      assert.equal(await shell(`curl -s ${KEY} ${FILES}/forms/a"`), "text");
    });

    it("lists the root by both of its spellings, and a directory", async () => {
      await shell(`curl -sf -X PUT ${KEY} -d x ${FILES}/listed/file"`);
      const list = async (rest) => JSON.parse(await shell(`curl -sf ${KEY} ${FILES}-list${rest}"`));
      assert.deepEqual(await list(""), await list("/"));
      const { entries, total } = await list("/listed");
      assert.deepEqual([entries.map((entry) => entry.name), total], [["file"], 1]);
    });

    it("deletes a directory, and says 204 to what is not there", async () => {
      await shell(`curl -sf -X PUT ${KEY} -d x ${FILES}/dist/a/b"`);
      const remove = `curl -s ${STATUS} -X DELETE ${KEY} ${FILES}/dist"`;
      assert.equal(await shell(remove), "204");
      assert.equal(await shell(`curl -s -o /dev/null ${STATUS} ${KEY} ${FILES}/dist/a/b"`), "404");
      assert.equal(await shell(remove), "204");
    });

    it("is refused what climbs, and told so", async () => {
      const climb = `curl -s --path-as-is ${STATUS} ${KEY} ${FILES}`;
      assert.match(await shell(`${climb}/../../../etc/passwd"`), /"error".*403$/s);
      assert.match(await shell(`${climb}/a/%2e%2e%2f%2e%2e%2fetc/passwd"`), /"error".*403$/s);
    });
  });
}
