// Where the promises are kept: in Node, Deno and Bun as processes, in Chromium as a page.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, normalize } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const home = fileURLToPath(new URL("../..", import.meta.url));
const main = join(home, "tests/harness/process.js");

export const RUNTIMES = {
  node: (setting) => inProcess(process.execPath, [main, JSON.stringify(setting)]),
  deno: (setting) =>
    inProcess(program("deno", "@deno/linux-x64-glibc/deno", "@deno/linux-arm64-glibc/deno"), [
      ...[
        "run",
        // As package.json says it, `zod` lies in node_modules.
        "--node-modules-dir=manual",
        "--no-lock",
        "--no-remote",
        "--allow-net",
        "--allow-read",
        "--quiet",
      ],
      ...[main, JSON.stringify(setting)],
    ]),
  bun: (setting) =>
    inProcess(
      program(
        "bun",
        ...["@oven/bun-linux-x64/bin/bun", "@oven/bun-linux-x64-baseline/bin/bun"],
        "@oven/bun-linux-aarch64/bin/bun",
      ),
      [main, JSON.stringify(setting)],
    ),
  chromium: inChromium,
};

/** Where a program lies when the scripts of its package, which would move it, were not run. */
function program(name, ...paths) {
  const found = paths.map((path) => join(home, "node_modules", path)).find(existsSync);
  if (found === undefined) throw new Error(`${name} is not installed: run \`npm ci\``);
  return found;
}

async function inProcess(command, args) {
  const child = spawn(command, args, { cwd: home, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve, reject) => child.on("exit", resolve).on("error", reject));
  const outcomes = [];
  for await (const line of createInterface({ input: child.stdout })) {
    // Whatever else a test prints is for people.
    if (line.startsWith("{")) outcomes.push(JSON.parse(line));
    else console.log(line);
  }
  const status = await ended;
  return finished(outcomes, `${command} ended with ${status}`);
}

/** As root, Chromium starts only without its own sandbox. It asks nobody but the test. */
const FLAGS = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
  "--disable-dev-shm-usage",
];

async function inChromium(setting) {
  const profile = await mkdtemp(join(tmpdir(), "sandkeep-chromium-"));
  const page = await serving(setting);
  const args = [...FLAGS, `--user-data-dir=${profile}`, `${page.url}/tests/harness/page.html`];
  const child = spawn("chromium", args, { stdio: "ignore" });
  const ended = new Promise((resolve) => {
    child.on("exit", (status) => resolve(`chromium ended with ${status}`));
    child.on("error", (error) => resolve(`chromium does not start: ${error.message}`));
  });
  try {
    const early = await Promise.race([page.done, ended]);
    return finished(page.outcomes, early ?? "the page broke off");
  } finally {
    child.kill();
    await ended;
    page.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** A web server with the package and its tests, which takes in outcomes. */
async function serving(setting) {
  const outcomes = [];
  let finish;
  const done = new Promise((resolve) => {
    finish = resolve;
  });
  const server = createServer(async (incoming, outgoing) => {
    const { pathname } = new URL(incoming.url, "http://localhost");
    if (pathname === "/setting") return outgoing.end(JSON.stringify(setting));
    if (pathname === "/outcome") {
      const outcome = JSON.parse(await textOf(incoming));
      outcomes.push(outcome);
      outgoing.end();
      if (outcome.asked) finish();
      return;
    }
    await file(pathname, outgoing);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, outcomes, done, close };
}

async function file(pathname, outgoing) {
  const path = normalize(join(home, pathname));
  const type = path.endsWith(".html") ? "text/html" : "text/javascript";
  try {
    if (!path.startsWith(home)) throw new Error("outside");
    const content = await readFile(path);
    outgoing.writeHead(200, { "content-type": type }).end(content);
  } catch {
    outgoing.writeHead(404).end();
  }
}

async function textOf(incoming) {
  const parts = [];
  for await (const part of incoming) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** The outcomes, unless whoever ran the promises broke off before the last. */
function finished(outcomes, otherwise) {
  const last = outcomes.pop();
  if (last?.asked) return { outcomes, asked: last.asked };
  const before = (last ?? outcomes.at(-1))?.title ?? "the first";
  return {
    outcomes: [
      ...outcomes,
      { title: "it runs to the end", error: `${otherwise}, after ${before}` },
    ],
    asked: [],
  };
}
