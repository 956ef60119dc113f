/** One request and its answer: who asks, for how long, and how often when the line is bad. */

import { SandkeepError } from "../errors.js";
import { baseAddress, type Query, queryString } from "./address.js";
import { failure } from "./answer.js";
import { type Content, isRepeatable, observed, outgoing } from "./body.js";
import { canSeeUploads, isBrowser, upload } from "./browser.js";
import { Patience, pause } from "./patience.js";
import type { OnProgress } from "./progress.js";
import { type Ready, readyOf } from "./ready.js";
import { Received } from "./received.js";
import { type Repeat, type RetryOptions, Tries } from "./retry.js";

/** What is needed of `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A secret, or something that fetches the one that is good now. */
export type Secret = string | (() => string | undefined | Promise<string | undefined>);

/** Which server, and how it is spoken to. */
export interface TransportOptions {
  /** Where the server is, such as `http://127.0.0.1:2468`. It may have a path before the routes. */
  baseUrl: string | URL;
  /** The server's token, or a key. A function is asked before every request. */
  token?: Secret | undefined;
  /** How requests are made; the runtime's `fetch` without it. */
  fetch?: Fetch | undefined;
  /** Headers of every request. */
  headers?: Record<string, string> | undefined;
  /**
   * For how many milliseconds the server, and functions that give a token or content, may be silent
   * [default: 60,000]; 0 for ever.
   */
  timeout?: number | undefined;
  /** What is asked again when it failed. */
  retry?: RetryOptions | undefined;
}

/** What every call can be told. */
export interface CallOptions {
  /** Ends the call. */
  signal?: AbortSignal | undefined;
  /** For how many milliseconds the server may be silent, if not as long as for all calls. */
  timeout?: number | undefined;
}

/** A request. */
export interface Ask extends CallOptions {
  /** What errors call it. */
  operation: string;
  method: string;
  /** Behind the base, encoded already. */
  path: string;
  query?: Query | undefined;
  headers?: Record<string, string | undefined> | undefined;
  /** A body of bytes. */
  content?: Content | undefined;
  /** A body of JSON. */
  json?: unknown;
  /** What happens when it is made twice. */
  repeat: Repeat;
  /** Statuses beyond 2xx that are no failure. */
  alsoFine?: readonly number[] | undefined;
  /** Told how much of the body is sent. */
  onProgress?: OnProgress | undefined;
}

/** @internal A request of JSON as it goes out. */
export interface Plain {
  url: string;
  method: string;
  headers: Array<[string, string]>;
  body: string;
  retry: RetryOptions | undefined;
  timeout: number;
}

const USUAL_TIMEOUT = 60_000;
/** A body of this size may be on its way for longer than a server may be silent. */
const LARGE = 1024 * 1024;

/** The way to one server. */
export class Transport {
  readonly baseUrl: string;
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.baseUrl = baseAddress(options.baseUrl);
    this.#options = options;
  }

  /** Asks, again where that is safe, and answers when the head of the answer is there. */
  async send(asked: Ask): Promise<Received> {
    const ask = readyOf(asked);
    const tries = new Tries(ask.repeat, this.#options.retry, isRepeatable(ask.content));
    while (true) {
      try {
        return await this.#once(ask);
      } catch (error) {
        await pause(tries.pauseAfter(error), ask.signal);
      }
    }
  }

  /** @internal How requests are made, and a request of JSON as it goes out. */
  plain(ask: Ready): Plain {
    const { fetch, retry, timeout = USUAL_TIMEOUT } = this.#options;
    const secret = this.#secretNow(ask.operation);
    if (fetch !== undefined || typeof secret === "object") {
      const message = "whoever cannot wait has no use for a `fetch` or a token that takes its time";
      const hint = "give the client a token that is a text, and no `fetch`; or call `execute`";
      throw new SandkeepError(message, { kind: "unsupported", operation: ask.operation, hint });
    }
    const url = `${this.baseUrl}${ask.path}${queryString(ask.query)}`;
    const headers = [...this.#headersWith(secret, ask)];
    return { url, method: ask.method, headers, body: ask.content as string, retry, timeout };
  }

  /** Asks for JSON. */
  async json<T>(ask: Ask): Promise<T> {
    return (await this.send(ask)).json<T>();
  }

  /** Asks for something to happen that needs no answer. */
  async done(ask: Ask): Promise<void> {
    await (await this.send(ask)).ignored();
  }

  async #once(ask: Ready): Promise<Received> {
    const silence = ask.timeout ?? this.#options.timeout ?? USUAL_TIMEOUT;
    const patience = new Patience(ask.operation, silence, ask.signal);
    try {
      const response = await this.#answer(ask, patience);
      patience.answered();
      if (!response.ok && !ask.alsoFine?.includes(response.status)) {
        throw await patience.during(failure(response, ask.operation));
      }
      return new Received(response, ask.operation, patience);
    } catch (cause) {
      const error = patience.explain(cause);
      patience.end();
      throw error;
    }
  }

  async #answer(ask: Ready, patience: Patience): Promise<Response> {
    if (patience.signal.aborted) throw patience.signal.reason;
    const url = `${this.baseUrl}${ask.path}${queryString(ask.query)}`;
    const init: RequestInit & { duplex?: "half" } = {
      method: ask.method,
      headers: await this.#headers(ask, patience),
      signal: patience.signal,
    };
    if (ask.content === undefined) return patience.during(this.#fetch(url, init));
    const body = await outgoing(ask.content, patience, !isBrowser);
    if (isBrowser) {
      init.body = body.body as BodyInit;
      return this.#answerInBrowser(ask, url, init, patience);
    }
    const once = ask.repeat === "never" || ask.repeat === "conditional";
    init.body = observed(body, patience, { onProgress: ask.onProgress, once }) as BodyInit;
    // Without it, runtimes refuse a stream.
    if (init.body instanceof ReadableStream) init.duplex = "half";
    return patience.during(this.#fetch(url, init));
  }

  async #answerInBrowser(ask: Ready, url: string, init: RequestInit, patience: Patience) {
    const size = init.body instanceof Blob ? init.body.size : (init.body as Uint8Array).byteLength;
    // Searches answer with a stream, which XMLHttpRequest would hold.
    if (canSeeUploads && !ask.isJson && this.#options.fetch === undefined) {
      return patience.during(upload(url, init, patience, ask.onProgress));
    }
    // How it goes cannot be seen: a large body may take longer than a server may be silent.
    const answer = this.#fetch(url, init);
    const response = await (size < LARGE ? patience.during(answer) : answer);
    ask.onProgress?.({ bytes: size, total: size });
    return response;
  }

  #fetch(url: string, init: RequestInit): Promise<Response> {
    const { fetch } = this.#options;
    return fetch === undefined ? globalThis.fetch(url, init) : fetch(url, init);
  }

  async #secret(operation: string, patience: Patience): Promise<string | undefined> {
    const { token } = this.#options;
    if (typeof token !== "function") return token;
    const asking = (async () => token())();
    try {
      return await patience.during(patience.orAborted(asking), "the function of the token");
    } catch (cause) {
      if (patience.signal.aborted) throw cause;
      throw noToken(operation, cause);
    }
  }

  #secretNow(operation: string): ReturnType<Exclude<Secret, string>> {
    const { token } = this.#options;
    try {
      return typeof token === "function" ? token() : token;
    } catch (cause) {
      throw noToken(operation, cause);
    }
  }

  async #headers(ask: Ready, patience: Patience): Promise<Headers> {
    return this.#headersWith(await this.#secret(ask.operation, patience), ask);
  }

  #headersWith(secret: string | undefined, ask: Ready): Headers {
    try {
      const headers = new Headers(this.#options.headers);
      if (secret !== undefined && secret !== "") headers.set("authorization", `Bearer ${secret}`);
      if (ask.isJson) headers.set("content-type", "application/json");
      else if (ask.content !== undefined) headers.set("content-type", "application/octet-stream");
      for (const [name, value] of Object.entries(ask.headers ?? {})) {
        if (value !== undefined) headers.set(name, value);
      }
      return headers;
    } catch (cause) {
      const message = "a header cannot be sent: its value holds characters that none may have";
      const { operation } = ask;
      throw new SandkeepError(message, { kind: "invalid_argument", operation, cause });
    }
  }
}

function noToken(operation: string, cause: unknown): SandkeepError {
  const message = "the token could not be had";
  return new SandkeepError(message, { kind: "token_invalid", operation, cause });
}
