// What came of a tool's call, for tests.

import { equal, fail, ok } from "./expect.js";

/** It was done: answers what it gave. */
export async function done(call) {
  const result = await call;
  if (!result.success) fail(`expected a success, got ${JSON.stringify(result)}`);
  equal(result.error, null);
  ok(result.metadata.durationMs >= 0 && result.metadata.tool, "a tool and a duration");
  return result.data;
}

/** It failed in this manner: answers what is told of it. Nothing is thrown. */
export async function refused(call, kind) {
  const result = await call;
  if (result.success || result.metadata.kind !== kind) {
    fail(`expected a failure of kind ${kind}, got ${JSON.stringify(result)}`);
  }
  equal(result.data, null);
  ok(typeof result.error === "string" && result.error !== "", "words");
  ok(result.metadata.tool && result.metadata.durationMs >= 0, "a tool and a duration");
  return { error: result.error, ...result.metadata };
}
