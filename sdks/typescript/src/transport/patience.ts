/** How long somebody waits: until the caller gives up, or the server was silent for too long. */

import { SandkeepError } from "../errors.js";

/** The patience of one request, from its first byte to the last of its answer. */
export class Patience {
  readonly #controller = new AbortController();
  readonly #operation: string;
  readonly #silence: number;
  readonly #caller: AbortSignal | undefined;
  readonly #giveUp = () => this.#controller.abort(this.#caller?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasWaited = false;
  #blamed: SandkeepError | undefined;

  /** `silence` is in milliseconds; 0 and Infinity wait for ever. */
  constructor(operation: string, silence: number, caller?: AbortSignal) {
    this.#operation = operation;
    this.#silence = silence;
    this.#caller = caller;
    if (caller?.aborted) this.#giveUp();
    else caller?.addEventListener("abort", this.#giveUp, { once: true });
  }

  /** What ends the request. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Waits for something of the server's, for as long as it may be silent. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.heard();
    try {
      return await work;
    } finally {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
  }

  /** Something moved: the silence begins anew. */
  heard(): void {
    clearTimeout(this.#timer);
    if (this.#silence <= 0 || !Number.isFinite(this.#silence)) return;
    this.#timer = setTimeout(() => {
      this.#hasWaited = true;
      this.#controller.abort();
    }, this.#silence);
  }

  /** Nothing is waited for any more: what the server is still sending is not wanted. */
  end(): void {
    this.done();
    this.#controller.abort();
  }

  /** All has arrived. */
  done(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#giveUp);
  }

  /** What was to be sent could not be had: that is why the request fails. */
  blame(cause: unknown): SandkeepError {
    const operation = this.#operation;
    const message = "the content could not be read to its end";
    this.#blamed ??=
      cause instanceof SandkeepError
        ? cause
        : new SandkeepError(message, { kind: "broken_body", operation, cause });
    return this.#blamed;
  }

  /** Why a request failed that got no answer, or not all of it. */
  explain(cause: unknown): SandkeepError {
    const operation = this.#operation;
    if (this.#blamed !== undefined) return this.#blamed;
    if (cause instanceof SandkeepError) return cause;
    if (this.#caller?.aborted) {
      const reason = this.#caller.reason;
      return new SandkeepError("the call was aborted", {
        kind: "aborted",
        operation,
        cause: reason,
      });
    }
    if (this.#hasWaited) {
      const message = `the server was silent for ${this.#silence} ms`;
      const hint = "try again, or give the call a longer `timeout`";
      return new SandkeepError(message, { kind: "timeout", operation, hint, cause });
    }
    const hint = "look whether the server runs and baseUrl leads to it";
    const message = `the server cannot be reached${reasonOf(cause)}`;
    return new SandkeepError(message, { kind: "connection", operation, hint, cause });
  }
}

/** Runtimes hide what happened behind words such as `fetch failed`. */
function reasonOf(cause: unknown): string {
  for (let error = cause, depth = 0; error instanceof Error && depth < 4; depth += 1) {
    const code = (error as { code?: unknown }).code;
    if (typeof code === "string") return `: ${code}`;
    if (error.cause === undefined) return `: ${error.message}`;
    error = error.cause;
  }
  return "";
}

/** Waits so many milliseconds, or until the caller gives up. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener("abort", end, { once: true });
  });
}
