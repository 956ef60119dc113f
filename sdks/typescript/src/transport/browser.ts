/** Browsers send no streams over HTTP/1.1, and tell how an upload goes only by XMLHttpRequest. */

import type { Patience } from "./patience.js";
import type { OnProgress } from "./progress.js";

interface Runtime {
  XMLHttpRequest?: unknown;
  ServiceWorkerGlobalScope?: unknown;
  Deno?: unknown;
  Bun?: unknown;
  process?: { versions?: { node?: string } };
}

const runtime = globalThis as Runtime;

/** Whether uploads can be seen as they go: everywhere in browsers but in service workers. */
export const canSeeUploads = typeof runtime.XMLHttpRequest === "function";

/** Whether this is a page or a worker of a browser. */
export const isBrowser =
  (canSeeUploads || runtime.ServiceWorkerGlobalScope !== undefined) &&
  runtime.Deno === undefined &&
  runtime.Bun === undefined &&
  runtime.process?.versions?.node === undefined;

/** As `fetch` with a body that is whole, for an answer that is short; tells how far it is. */
export function upload(
  url: string,
  init: RequestInit,
  patience: Patience,
  onProgress: OnProgress | undefined,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    // A request that is aborted before it is sent is sent nevertheless.
    if (patience.signal.aborted) return reject(patience.signal.reason);
    const request = new XMLHttpRequest();
    request.open(init.method ?? "PUT", url);
    request.responseType = "arraybuffer";
    for (const [name, value] of new Headers(init.headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total, lengthComputable }) => {
      patience.heard();
      try {
        onProgress?.({ bytes: loaded, total: lengthComputable ? total : undefined });
      } catch (error) {
        reject(error);
        request.abort();
      }
    };
    const abort = () => request.abort();
    patience.signal.addEventListener("abort", abort, { once: true });
    request.onloadend = () => patience.signal.removeEventListener("abort", abort);
    request.onerror = () => reject(new TypeError("the upload failed"));
    request.onabort = () => reject(patience.signal.reason);
    request.onload = () => resolve(answerOf(request));
    request.send(init.body as XMLHttpRequestBodyInit);
  });
}

function answerOf(request: XMLHttpRequest): Response {
  const headers = new Headers();
  for (const line of request.getAllResponseHeaders().split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const { status } = request;
  // These have no body, and must not be given an empty one either.
  const body = [204, 205, 304].includes(status) ? null : (request.response as ArrayBuffer);
  return new Response(body, { status, headers });
}
