// A `fetch` of a client, in any runtime, in which single requests go wrong as they are told to.

/** Counts what is asked, and does something else in place of the next request that fits. */
export function badLine() {
  const asked = [];
  let planned;
  const fetch = async (url, given) => {
    const { method } = given;
    const { pathname, searchParams } = new URL(url);
    const isRpc = pathname.endsWith("/v2/rpc") && method === "POST";
    // A body may be a stream, which can be read only once.
    const init = isRpc ? { ...given, body: await new Response(given.body).text() } : given;
    const rpc = isRpc ? JSON.parse(init.body) : {};
    const request = { url, method, pathname, searchParams, rpc };
    asked.push(request);
    if (planned?.fits(request)) {
      const { instead } = planned;
      planned = undefined;
      return instead(() => globalThis.fetch(url, init), init);
    }
    return globalThis.fetch(url, init);
  };
  /** `instead(send, init)` answers the next request that `fits`. */
  const next = (fits, instead) => (planned = { fits, instead });
  return { fetch, asked, next };
}

export const isCall = (method) => (request) => request.rpc.method === method;
export const isStream = ({ method, pathname }) => method === "GET" && pathname.endsWith("/v2/rpc");

/** An answer whose body breaks after so many bytes. */
export function cutAfter(answer, bytes) {
  let left = bytes;
  const cut = new TransformStream({
    transform(piece, controller) {
      controller.enqueue(piece.subarray(0, left));
      left -= piece.byteLength;
      if (left <= 0) controller.error(new TypeError("the line was cut"));
    },
  });
  const { status, headers } = answer;
  return new Response(answer.body.pipeThrough(cut), { status, headers });
}

/** Never answers, until it is told to stop. */
export async function silence({ signal }) {
  await stopped(signal);
  throw signal.reason;
}

/** Begins to answer, and then says nothing until it is told to stop. */
export function silentBody({ signal }, headers = {}) {
  const start = (controller) => stopped(signal).then(() => controller.error(signal.reason));
  return new Response(new ReadableStream({ start: (controller) => void start(controller) }), {
    headers,
  });
}

function stopped(signal) {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", resolve, { once: true });
  });
}
