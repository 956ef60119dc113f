// Assertions that run in every runtime, browsers among them.

export function fail(message) {
  throw new Error(message);
}

export function ok(value, what = "a truth") {
  if (!value) fail(`expected ${what}, got ${shown(value)}`);
}

/** Both are the same as JSON, or the same bytes. */
export function equal(actual, expected) {
  if (shown(actual) !== shown(expected)) {
    fail(`expected ${shown(expected)}, got ${shown(actual)}`);
  }
}

/** It fails, with these facts. Answers the failure. */
export async function fails(work, facts) {
  let outcome;
  try {
    outcome = await (typeof work === "function" ? work() : work);
  } catch (error) {
    for (const [name, expected] of Object.entries(facts)) {
      if (error[name] !== expected) {
        fail(`expected ${name} ${shown(expected)}, got ${shown(error[name])}: ${error.stack}`);
      }
    }
    return error;
  }
  return fail(`expected a failure ${shown(facts)}, got ${shown(outcome)}`);
}

export function bytes(text) {
  return new TextEncoder().encode(text);
}

export function text(bytes) {
  return new TextDecoder().decode(bytes);
}

/** Bytes that are not all alike, so that a piece that is lost or doubled is seen. */
export function numbers(length) {
  const words = new Uint32Array(Math.ceil(length / 4));
  for (let at = 0; at < words.length; at += 1) words[at] = at * 2654435761;
  return new Uint8Array(words.buffer, 0, length);
}

export async function collected(stream) {
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function all(iterable) {
  const items = [];
  for await (const item of iterable) items.push(item);
  return items;
}

/** Waits until something is so; the test's own time limit ends it. */
export async function until(isSo) {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10));
}

function shown(value) {
  if (value instanceof Uint8Array && value.byteLength > 200)
    return `${value.byteLength} bytes, ${sum(value)}`;
  if (value instanceof Uint8Array) return `bytes ${Array.from(value).join(" ")}`;
  return JSON.stringify(value) ?? String(value);
}

function sum(value) {
  let hash = 2166136261;
  for (const byte of value) hash = Math.imul(hash ^ byte, 16777619);
  return hash >>> 0;
}
