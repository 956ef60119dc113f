/** A request whose caller stands still until it is answered. */

import { failureIn, notUnderstood } from "../../transport/answer.js";
import { aborted, unreachable } from "../../transport/patience.js";
import { type Ready, readyOf } from "../../transport/ready.js";
import { Tries } from "../../transport/retry.js";
import type { Ask, Plain, Transport } from "../../transport/transport.js";
import { lastMoment, tooSlow } from "../deadline.js";
import { run } from "./thread.js";

/** Asks for JSON, again where that is safe. All tries together may take `timeoutMs`. */
export function sendSync(transport: Transport, asked: Ask, timeoutMs: number | undefined): unknown {
  const ask = readyOf(asked);
  if (ask.signal?.aborted) throw aborted(ask.operation, ask.signal);
  const request = transport.plain(ask);
  const tries = new Tries(ask.repeat, request.retry);
  const end = timeoutMs === undefined ? undefined : Date.now() + lastMoment(timeoutMs);
  while (true) {
    const left = end === undefined ? request.timeout : end - Date.now();
    if (end !== undefined && left <= 0) throw tooSlow(timeoutMs ?? 0, ask.repeat === "safe");
    try {
      return once(ask, request, left, timeoutMs ?? request.timeout);
    } catch (error) {
      const pause = tries.pauseAfter(error);
      stand(end === undefined ? pause : Math.min(pause, Math.max(0, end - Date.now())));
    }
  }
}

function once(ask: Ready, request: Plain, timeout: number, told: number): unknown {
  const { operation, repeat } = ask;
  const { url, method, headers, body } = request;
  const outcome = run({ url, method, headers, body, timeout });
  if (!("status" in outcome)) {
    throw outcome.isLate
      ? tooSlow(told, repeat === "safe")
      : unreachable(operation, outcome.reason);
  }
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(outcome.body);
  if (outcome.status < 200 || outcome.status > 299) {
    const answer = { status: outcome.status, headers: new Headers(outcome.headers) };
    throw failureIn(answer, text, operation);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw notUnderstood("the answer is not JSON", operation, cause);
  }
}

/** Stands still. */
function stand(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
