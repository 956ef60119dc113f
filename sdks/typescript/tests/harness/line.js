// A line to the server on which something goes wrong, in a way that the address names:
// `/FAULT/ID/DETAIL…/v1/…`. Each ID is a line of its own.

import { createServer, request } from "node:http";

const FAULTS = {
  /** The first so many answers are cut in their first line, after the server has done its work. */
  lose: { details: 1, answer: (asked) => lose(asked, "HTTP/1.1 2") },
  /** The same, without a byte of the answer: some runtimes then ask again by themselves. */
  vanish: { details: 1, answer: (asked) => lose(asked, "") },
  /** The first so many requests are answered with a status, and are never seen by the server. */
  refuse: { details: 3, answer: refuse },
  /** Every answer is cut after so many bytes of its body. */
  cut: { details: 1, answer: cut },
  /** The first answer is cut after its first bytes; the next so many requests meet nobody. */
  away: { details: 1, answer: away },
  /** Nobody ever answers. */
  silence: { details: 0, answer: () => {} },
  /** Answers with this length announced, and a body that is shorter. */
  short: { details: 0, answer: short },
};

/** Answers with the address of the line, and how to end it. */
export async function badLine(target) {
  const lines = new Map();
  const server = createServer((incoming, outgoing) => {
    const [, fault, id, ...rest] = incoming.url.split("/");
    if (fault === "count") return told(outgoing, 200, {}, String(lines.get(id)?.count ?? 0));
    const kind = FAULTS[fault];
    if (kind === undefined) return told(outgoing, 404, {}, "no such fault");
    const details = rest.splice(0, kind.details);
    const line = lines.get(id) ?? { count: 0 };
    lines.set(id, line);
    const path = `/${rest.join("/")}`;
    // A browser asks beforehand; that is no part of the test.
    if (incoming.method === "OPTIONS") return forward(target, incoming, outgoing, path);
    line.count += 1;
    kind.answer({ target, incoming, outgoing, path, details, count: line.count });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}

function lose({ target, incoming, outgoing, path, details: [times], count }, beginning) {
  forward(target, incoming, outgoing, path, (answer) => {
    if (count > Number(times)) return passOn(answer, outgoing);
    answer.resume();
    answer.on("end", () => byHand(outgoing, beginning));
  });
}

function refuse({ target, incoming, outgoing, path, details, count }) {
  const [status, times, retryAfter] = details;
  if (count > Number(times)) return forward(target, incoming, outgoing, path);
  incoming.resume();
  incoming.on("end", () => {
    const headers = retryAfter === "none" ? {} : { "retry-after": retryAfter };
    told(outgoing, Number(status), headers, '{"error":"not now","kind":"busy"}');
  });
}

function away({ details: [times], ...asked }) {
  if (asked.count === 1) return cut({ ...asked, details: [100] });
  refuse({ ...asked, count: asked.count - 1, details: [502, times, "none"] });
}

function cut({ target, incoming, outgoing, path, details: [bytes] }) {
  forward(target, incoming, outgoing, path, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers);
    outgoing.flushHeaders();
    let left = Number(bytes);
    answer.on("error", () => outgoing.destroy());
    answer.on("data", (piece) => {
      const part = piece.subarray(0, left);
      left -= part.length;
      if (part.length > 0) outgoing.write(part);
      if (left > 0 || outgoing.destroyed) return;
      answer.destroy();
      // What was written is still to arrive.
      setTimeout(() => outgoing.destroy(), 20);
    });
    answer.on("end", () => outgoing.end());
    outgoing.on("close", () => answer.destroy());
  });
}

function short({ outgoing }) {
  byHand(
    outgoing,
    "HTTP/1.1 200 OK\r\naccess-control-allow-origin: *\r\ncontent-length: 100\r\n" +
      "connection: close\r\n\r\nnot one hundred bytes",
  );
}

/** Ends a connection with these bytes: `node:http` neither lies nor breaks off. */
function byHand(outgoing, text) {
  const socket = outgoing.socket;
  if (socket === null) return;
  outgoing.detachSocket(socket);
  socket.end(text);
}

function forward(target, incoming, outgoing, path, take = passOn) {
  const { method, headers } = incoming;
  const onward = request(new URL(path, target), { method, headers }, (answer) =>
    take(answer, outgoing),
  );
  onward.on("error", () => outgoing.destroy());
  outgoing.on("close", () => onward.destroy());
  incoming.pipe(onward);
}

function passOn(answer, outgoing) {
  outgoing.writeHead(answer.statusCode, answer.headers);
  outgoing.flushHeaders();
  answer.on("error", () => outgoing.destroy());
  answer.pipe(outgoing);
}

function told(outgoing, status, headers, text) {
  outgoing.writeHead(status, {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "retry-after",
    "content-type": "application/json",
    ...headers,
  });
  outgoing.end(text);
}
