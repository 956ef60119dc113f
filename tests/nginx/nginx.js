// A real nginx with the configuration of deploy/nginx, in which only addresses and paths differ.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, readdir, readlink, writeFile } from "node:fs/promises";
import { createServer, connect } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { stopped } from "../program.mjs";

const run = promisify(execFile);
const deploy = new URL("../../deploy/nginx/", import.meta.url);

/** The names of nginx's temporary directories. */
const TEMPORARY = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];

/**
 * nginx in front of the servers at `backends`, in the directory `place`. `replace` changes more of
 * its rules: pairs of what is there and what is to be there.
 */
export async function startNginx(place, backends, replace = []) {
  for (let left = 3; ; left -= 1) {
    try {
      return await begun(place, backends, replace);
    } catch (error) {
      // Somebody else may have taken a port between the choice of it and its use.
      if (!(error instanceof EndedAtOnce) || left === 0) throw error;
    }
  }
}

class EndedAtOnce extends Error {}

async function begun(place, backends, replace) {
  const home = join(place, `nginx-${await freePort()}`);
  await mkdir(home, { recursive: true });
  for (const name of TEMPORARY) await mkdir(join(home, name));
  await makeCertificate(home);
  const [port, plainPort] = [await freePort(), await freePort()];
  await writeFile(join(home, "proxy.conf"), replaced(await rules("proxy.conf"), replace));
  await writeFile(join(home, "site.conf"), await site(home, port, plainPort, backends));
  await writeFile(join(home, "nginx.conf"), main(home));
  const args = ["-p", home, "-c", join(home, "nginx.conf"), "-g", "daemon off;"];
  // A user's path may be without the programs of administrators.
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
  const child = spawn("nginx", args, { env, stdio: ["ignore", "inherit", "inherit"] });
  await accepting(port, child);
  return {
    port,
    url: `https://localhost:${port}`,
    plainUrl: `http://localhost:${plainPort}`,
    certificateFile: join(home, "fullchain.pem"),
    certificate: await readFile(join(home, "fullchain.pem")),
    mostMemory: async () => Math.max(...(await Promise.all((await workers(child.pid)).map(peak)))),
    accessLog: () => readFile(join(home, "access.log"), "utf8"),
    temporaryFiles: async () => (await openFiles(child.pid)).filter(isTemporary),
    stop: () => stopped(child),
  };
}

/** One of the files of deploy/nginx. */
export function rules(name) {
  return readFile(new URL(name, deploy), "utf8");
}

function isTemporary(path) {
  return TEMPORARY.some((name) => path.includes(`/${name}/`));
}

function replaced(text, pairs) {
  return pairs.reduce((text, [old, fresh]) => {
    if (!text.includes(old)) throw new Error(`the configuration has no ${old}`);
    return text.replaceAll(old, fresh);
  }, text);
}

async function site(home, port, plainPort, backends) {
  return replaced(await rules("site.conf"), [
    ["server 127.0.0.1:2468;", backends.map(named).join(" ")],
    ["listen 80;", `listen 127.0.0.1:${plainPort};`],
    ["listen [::]:80;", ""],
    ["listen 443 ", `listen 127.0.0.1:${port} `],
    ["listen [::]:443 ssl http2;", ""],
    ["/etc/ssl/sandkeep", home],
    ["/var/log/nginx/sandkeep.log", join(home, "access.log")],
    ["/etc/nginx/sandkeep-proxy.conf", join(home, "proxy.conf")],
  ]);
}

// Otherwise a server that failed is left alone for ten seconds, which no test waits for.
function named(backend) {
  return `server ${new URL(backend).host} max_fails=0;`;
}

// What Debian's own nginx.conf sets around the site, and compression of everything.
function main(home) {
  const temporary = TEMPORARY.map((name) => `${name}_temp_path ${join(home, name)};`);
  return `
    ${process.getuid() === 0 ? "user root;" : ""}
    worker_processes 1;
    pid ${join(home, "nginx.pid")};
    error_log ${join(home, "error.log")};
    events { worker_connections 768; }
    http {
      sendfile on;
      tcp_nopush on;
      types_hash_max_size 2048;
      default_type application/octet-stream;
      gzip on;
      gzip_types *;
      gzip_min_length 1;
      ${temporary.join("\n      ")}
      include ${join(home, "site.conf")};
    }
  `;
}

// A temporary file is unlinked as soon as it is open: only its descriptor tells of it.
async function openFiles(master) {
  const of = async (pid) => {
    const links = (await readdir(`/proc/${pid}/fd`)).map((fd) => readlink(`/proc/${pid}/fd/${fd}`));
    return (await Promise.allSettled(links)).map(({ value }) => value ?? "");
  };
  return (await Promise.all((await workers(master)).map(of))).flat();
}

async function workers(master) {
  const { stdout } = await run("ps", ["-o", "pid=", "--ppid", `${master}`]);
  return stdout.trim().split(/\s+/);
}

/** The most memory that a process ever had, in bytes. */
async function peak(pid) {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s*(\d+) kB/.exec(status)[1]) * 1024;
}

async function makeCertificate(home) {
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const files = ["-keyout", join(home, "privkey.pem"), "-out", join(home, "fullchain.pem")];
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  await run("openssl", ["req", "-x509", "-days", "2", ...key, ...subject, ...files]);
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

async function accepting(port, child) {
  for (;;) {
    if (child.exitCode !== null) throw new EndedAtOnce(`nginx ended with ${child.exitCode}`);
    const socket = connect(port, "127.0.0.1");
    try {
      await once(socket, "connect");
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    } finally {
      socket.destroy();
    }
  }
}
