/** How long somebody waits: until the caller gives up, or the server was silent for too long. */

import { SandkeepError } from "../errors.js";

/** Timers of more milliseconds than this go off at once. */
const LONGEST_TIMER = 2 ** 31 - 1;
/** What Node says when its own patience with a server is at its end. */
const SILENCES = ["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"];

/** The patience of one request, from its first byte to the last of its answer. */
export class Patience {
  readonly #controller = new AbortController();
  readonly #operation: string;
  readonly #silence: number;
  readonly #caller: AbortSignal | undefined;
  readonly #giveUp = () => this.#controller.abort(this.#caller?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Who is waited for; nobody as long as it is the caller's turn. */
  #awaited: string | undefined;
  #isAnswered = false;
  #silent: string | undefined;
  #blamed: SandkeepError | undefined;

  /** `silence` is in milliseconds; 0 and what no timer can count wait for ever. */
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

  /** Waits for something of the server's, or of `whom`, for as long as they may be silent. */
  async during<T>(work: Promise<T>, whom = "the server"): Promise<T> {
    this.#awaited = whom;
    this.heard();
    try {
      return await work;
    } finally {
      clearTimeout(this.#timer);
      this.#awaited = undefined;
    }
  }

  /** Waits for a piece of what is sent: meanwhile it is not the server that is silent. */
  async meanwhile<T>(work: Promise<T>): Promise<T> {
    if (this.#isAnswered) return this.orAborted(work);
    clearTimeout(this.#timer);
    try {
      return await this.orAborted(work);
    } finally {
      if (!this.#isAnswered) this.heard();
    }
  }

  /** Waits for something that knows nothing of the signal. */
  orAborted<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(signal.reason);
      if (signal.aborted) giveUp();
      signal.addEventListener("abort", giveUp, { once: true });
      work.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
    });
  }

  /** Something moved: the silence begins anew, if anybody is waited for. */
  heard(): void {
    clearTimeout(this.#timer);
    if (this.#awaited === undefined || !(this.#silence > 0 && this.#silence <= LONGEST_TIMER)) {
      return;
    }
    this.#timer = setTimeout(() => {
      this.#silent = this.#awaited;
      this.#controller.abort();
    }, this.#silence);
  }

  /** The head of the answer is there: from now on it does not matter how the sending goes. */
  answered(): void {
    this.#isAnswered = true;
  }

  /** Nothing is waited for any more: what the server is still sending is not wanted. */
  end(): void {
    this.done();
    this.#controller.abort();
  }

  /** All has arrived. */
  done(): void {
    clearTimeout(this.#timer);
    this.#awaited = undefined;
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
    if (this.#blamed !== undefined) return this.#blamed;
    if (cause instanceof SandkeepError) return cause;
    const operation = this.#operation;
    if (this.#caller?.aborted) return aborted(operation, this.#caller);
    if (this.#silent !== undefined) {
      const message = `${this.#silent} was silent for ${this.#silence} ms`;
      const hint = "try again, or give the call a longer `timeout`";
      return new SandkeepError(message, { kind: "timeout", operation, hint, cause });
    }
    const code = codeOf(cause);
    if (code !== undefined && SILENCES.includes(code)) {
      const message = "the server was silent for longer than this runtime waits";
      const hint = "ask for less at once, or give the client a `fetch` that waits longer";
      return new SandkeepError(message, { kind: "timeout", operation, hint, cause });
    }
    return unreachable(operation, reasonOf(cause), cause);
  }
}

/** The failure of a line that leads to nobody, or broke. */
export function unreachable(
  operation: string,
  reason: string | undefined,
  cause?: unknown,
): SandkeepError {
  const hint = "look whether the server runs and baseUrl leads to it";
  const message = `the server cannot be reached${reason === undefined ? "" : `: ${reason}`}`;
  return new SandkeepError(message, { kind: "connection", operation, hint, cause });
}

/** The failure of a call that the caller gave up. */
export function aborted(operation: string, { reason: cause }: AbortSignal): SandkeepError {
  return new SandkeepError("the call was aborted", { kind: "aborted", operation, cause });
}

/** Runtimes hide what happened behind words such as `fetch failed`. */
function reasonOf(cause: unknown): string | undefined {
  return codeOf(cause) ?? causes(cause).at(-1)?.message;
}

function codeOf(cause: unknown): string | undefined {
  const codes = causes(cause).map((error) => (error as { code?: unknown }).code);
  return codes.find((code) => typeof code === "string");
}

/** An error, what led to it, and so on. */
function causes(cause: unknown): Error[] {
  const found: Error[] = [];
  for (let error = cause; error instanceof Error && found.length < 4; error = error.cause) {
    found.push(error);
  }
  return found;
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
    const timer = setTimeout(end, Math.min(milliseconds, LONGEST_TIMER));
    signal?.addEventListener("abort", end, { once: true });
  });
}
