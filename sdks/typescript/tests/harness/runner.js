// Runs the promises, in whatever runtime this is, and tells what became of each.

import * as sdk from "../../dist/esm/index.js";
import * as toolkit from "../../dist/esm/tools/index.js";

const LONGEST = 30_000;

/** The files of promises. */
export const SUBJECTS = [
  "sandboxes",
  "reading",
  "writing",
  "uploads",
  "arguments",
  "names",
  "entries",
  "archives",
  "finding",
  "batches",
  "watching",
  "snapshots",
  "keys",
  "default_tree",
  "failures",
  "bad_lines",
  "agent_files",
  "agent_connection",
  "agent_sessions",
  "tools",
  "tools_content",
  "tools_arguments",
  "tools_settings",
  "tools_lines",
  "tools_models",
  "tools_sync",
];

/**
 * `setting` says where the server is (`baseUrl`, `token`), where bad lines to it begin (`lineUrl`),
 * and what this runtime is called.
 */
export async function run(setting, tell) {
  for (const subject of SUBJECTS) {
    const promises = [];
    const { default: define } = await import(`../promises/${subject}.promises.js`);
    define({ it: (title, body) => promises.push({ title, body }), ...means(setting) });
    for (const { title, body } of promises) tell(await outcome(`${subject}: ${title}`, body));
  }
}

async function outcome(title, body) {
  const begun = Date.now();
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${LONGEST} ms`)), LONGEST);
  });
  try {
    await Promise.race([body(), late]);
    return { title, ms: Date.now() - begun };
  } catch (error) {
    return { title, ms: Date.now() - begun, error: described(error) };
  } finally {
    clearTimeout(timer);
  }
}

function means({ baseUrl, token, lineUrl, runtime, fetch }) {
  const connect = (options = {}) => new sdk.Sandkeep({ baseUrl, token, fetch, ...options });
  const unique = (word) => `${word}-${runtime}-${Math.random().toString(36).slice(2, 10)}`;
  const keep = connect();
  /** A sandbox of this test alone. */
  const fresh = (request = {}) => keep.sandboxes.create({ id: unique("test"), ...request });
  /** A line to the server on which something goes wrong; see line.js. */
  const line = (fault, ...details) =>
    [lineUrl, fault, unique("line"), ...details].map(String).join("/");
  return { sdk, toolkit, keep, connect, fresh, line, unique, baseUrl, token, runtime };
}

function described(error) {
  if (!(error instanceof Error)) return String(error);
  const facts = error instanceof sdk.SandkeepError ? ` (${error.kind}, ${error.operation})` : "";
  return `${error.message}${facts}\n${error.stack}`;
}
