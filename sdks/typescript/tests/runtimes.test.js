// The promises of this package, against the real server, in every runtime that it is for.

import { strict as assert } from "node:assert";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { serveSandboxes } from "../../../tests/program.mjs";
import { badLine } from "./harness/line.js";
import { RUNTIMES } from "./harness/runtimes.js";

const chosen = process.env.SANDKEEP_RUNTIMES?.split(",") ?? Object.keys(RUNTIMES);

for (const { runtime, seconds, outcomes, asked } of await runs()) {
  describe(`in ${runtime} (${outcomes.length} promises, ${seconds} s)`, () => {
    for (const { title, error } of outcomes) {
      it(title, () => {
        if (error !== undefined) throw Object.assign(new Error(), { stack: error });
      });
    }
    if (runtime === "node") it("every operation of the contract was asked for", () => whole(asked));
  });
}

/** All runtimes at once, on one server. */
async function runs() {
  const server = await serveSandboxes("--cors-allow-origin", "*");
  const line = await badLine(server.baseUrl);
  const { baseUrl, token } = server;
  try {
    return await Promise.all(
      chosen.map(async (runtime) => {
        const begun = Date.now();
        const setting = { baseUrl, token, lineUrl: line.url, runtime, records: runtime === "node" };
        const outcome = await RUNTIMES[runtime](setting);
        return { runtime, seconds: ((Date.now() - begun) / 1000).toFixed(1), ...outcome };
      }),
    );
  } finally {
    await line.close();
    await server.close();
  }
}

/** No route of the native interface is left without a method. */
async function whole(asked) {
  const contract = new URL("../../../contract/openapi.json", import.meta.url);
  const { paths } = JSON.parse(await readFile(contract, "utf8"));
  const missing = [];
  for (const [path, operations] of Object.entries(paths)) {
    if (!/^\/v1\/(sandboxes|keys|audit)\b/.test(path)) continue;
    const pattern = path.replace(/\/\{path\}$/, "(/.*)?").replaceAll(/\{\w+\}/g, "[^/]+");
    for (const method of Object.keys(operations)) {
      const route = new RegExp(`^${method.toUpperCase()} ${pattern}$`);
      if (!asked.some((one) => route.test(one))) missing.push(`${method} ${path}`);
    }
  }
  assert.deepEqual(missing, []);
}
