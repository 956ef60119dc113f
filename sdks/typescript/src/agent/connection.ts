// One connection to an agent: calls by POST, and a stream for what the agent has to say.

import { SandkeepError } from "../errors.js";
import { failureOf, notUnderstood } from "../transport/answer.js";
import type { Repeat } from "../transport/retry.js";
import type { Ask, CallOptions, Transport } from "../transport/transport.js";
import { answer, capabilities, isListening, tell } from "./answers.js";
import { Calls } from "./calls.js";
import { asMessage, type Message, notification, type RpcError, request } from "./messages.js";
import type { SandboxAgentOptions } from "./options.js";
import { EventStream } from "./stream.js";

const CONNECTION = "x-acp-connection-id";
/** Ids are counted anew when a server restarts; the name in full is never another's. */
const NAME = "x-acp-connection-name";
const EVENT = "x-acp-event-id";
const PATH = "/v2/rpc";
const USUAL_SILENCE = 45_000;
const FAREWELL = 2_000;

// What may be asked twice when an answer got lost. All else may not.
const REPEATS: Record<string, Repeat> = {
  "_sandboxagent/fs/list_entries": "safe",
  "_sandboxagent/fs/stat": "safe",
  "_sandboxagent/fs/mkdir": "idempotent",
  "_sandboxagent/session/list": "safe",
  "_sandboxagent/session/get": "safe",
};

/** What comes of a connection. */
export interface ConnectionEnds {
  onLost(lost: Connection, why: SandkeepError): void;
  /** The server gave a sign of life on the stream. */
  onSign(): void;
}

export class Connection {
  readonly id: string;
  readonly #name: string;
  readonly #transport: Transport;
  readonly #options: SandboxAgentOptions;
  readonly #calls = new Calls();
  /** Those that wait for as long as an agent takes, so that only the stream shows that it is gone. */
  readonly #talks = new Calls();
  readonly #stream: EventStream;
  #listeners = 0;
  #listening: AbortController | undefined;
  #lastId = 0;

  /** Introduces the client to an agent. */
  static async open(
    transport: Transport,
    agent: string,
    options: SandboxAgentOptions,
    ends: ConnectionEnds,
    signal: AbortSignal,
  ): Promise<Connection> {
    const params = {
      protocolVersion: 1,
      clientInfo: { name: "sandkeep", version: "0.1.0" },
      clientCapabilities: capabilities(options),
      _meta: { "sandboxagent.dev": { agent } },
    };
    const asked = request(0, "initialize", params);
    // A second connection costs little, and one that nobody uses goes by itself.
    const facts = { repeat: "idempotent", signal } as const;
    const received = await transport.send(ask("initialize", asked, {}, facts));
    const id = received.header(CONNECTION);
    resultOf(await received.json(), asked, received.header("x-request-id"));
    if (!id) throw notUnderstood(`the answer has no header ${CONNECTION}`, "initialize");
    return new Connection(id, received.header(NAME) ?? id, transport, options, ends);
  }

  private constructor(
    id: string,
    name: string,
    transport: Transport,
    options: SandboxAgentOptions,
    ends: ConnectionEnds,
  ) {
    this.id = id;
    this.#name = name;
    this.#transport = transport;
    this.#options = options;
    this.#stream = new EventStream(transport, this.#headers, options.silence ?? USUAL_SILENCE, {
      onMessage: (message) => this.#hear(message),
      onSign: () => ends.onSign(),
      onRefused: (why) => ends.onLost(this, why),
    });
    // A stream keeps a program from ending, so that there is none before somebody wants it.
    if (isListening(options)) this.#listen();
  }

  /** Asks the agent or the server, and waits for the answer. */
  call<T>(method: string, params: object, options: CallOptions = {}): Promise<T> {
    return this.#ask(this.#calls, method, params, options, async () => {});
  }

  /** `until` waits for the event that the stream had come to when the answer was made. */
  async #ask<T>(
    calls: Calls,
    method: string,
    params: object,
    { signal: caller, timeout }: CallOptions,
    until: (event: number) => Promise<void>,
  ): Promise<T> {
    return calls.during(method, caller, async (signal) => {
      this.#lastId += 1;
      const asked = request(this.#lastId, method, params);
      const repeat = REPEATS[method] ?? "never";
      const sent = ask(method, asked, this.#headers, { repeat, signal, timeout });
      const received = await this.#transport.send(sent);
      const answer = await received.json();
      await until(Number(received.header(EVENT) ?? 0));
      return resultOf<T>(answer, asked, received.header("x-request-id"));
    });
  }

  /** As `call`, and all that the agent says and asks before it answers is heard before. */
  async callAndListen<T>(method: string, params: object, options: CallOptions = {}): Promise<T> {
    this.#listen();
    try {
      const heard = (event: number) => this.#stream.heard(event);
      return await this.#ask<T>(this.#talks, method, params, options, heard);
    } finally {
      this.#hush();
    }
  }

  async notify(method: string, params: object, options: CallOptions = {}): Promise<void> {
    const { signal: caller, timeout } = options;
    await this.#calls.during(method, caller, (signal) => {
      const message = notification(method, params);
      const facts = { repeat: "never", signal, timeout } as const;
      return this.#transport.done(ask(method, message, this.#headers, facts));
    });
  }

  /** Ends all calls and says goodbye; a server that does not hear it forgets us by itself. */
  async close(why: SandkeepError): Promise<void> {
    this.#calls.stop(why);
    this.#talks.stop(why);
    this.#listening?.abort();
    const operation = "disconnect";
    const headers = this.#headers;
    const facts = { repeat: "idempotent", timeout: FAREWELL } as const;
    const farewell = { operation, method: "DELETE", path: PATH, headers, ...facts };
    await this.#transport.done(farewell).catch(() => {});
  }

  /**
   * The server does not know the connection any more, or refuses its stream. Calls that are on their
   * way get their own answers; whoever waits for an agent would get none.
   */
  forget(cause: SandkeepError): void {
    const message = "the connection was lost while the agent was at work";
    const hint = "look how far it came, and go on in the same session";
    this.#talks.stop(new SandkeepError(message, { kind: "connection", hint, cause }));
    this.#listening?.abort();
  }

  get #headers(): Record<string, string> {
    return { [CONNECTION]: this.#name };
  }

  #listen(): void {
    this.#listeners += 1;
    if (this.#listening) return;
    this.#listening = new AbortController();
    void this.#stream.listen(this.#listening.signal);
  }

  #hush(): void {
    this.#listeners -= 1;
    if (this.#listeners > 0) return;
    this.#listening?.abort();
    this.#listening = undefined;
  }

  #hear(message: Message): void {
    tell(this.#options, message);
    if (message.method !== undefined && message.id !== undefined) void this.#respond(message);
  }

  // The agent stops waiting by itself if the answer does not reach it.
  async #respond(asked: Message): Promise<void> {
    const message = await answer(this.#options, asked);
    const operation = `answer to ${asked.method}`;
    await this.#calls
      .during(operation, undefined, (signal) => {
        const facts = { repeat: "idempotent", signal } as const;
        return this.#transport.done(ask(operation, message, this.#headers, facts));
      })
      .catch(() => {});
  }
}

function ask(
  operation: string,
  json: Message,
  headers: Record<string, string>,
  facts: Pick<Ask, "repeat" | "signal" | "timeout">,
): Ask {
  const accepted = { ...headers, accept: "application/json" };
  return { operation, method: "POST", path: PATH, json, headers: accepted, ...facts };
}

function resultOf<T>(value: unknown, asked: Message, requestId: string | undefined): T {
  const operation = asked.method ?? "";
  const message = asMessage(value);
  // A server that could not read the id of what it refuses answers with null.
  if (message?.error) throw failureIn(message.error, operation, requestId);
  if (message?.id !== asked.id) throw notUnderstood("the answer is not to the call", operation);
  if (message?.result === undefined) throw notUnderstood("the answer holds no result", operation);
  return message.result as T;
}

function failureIn(error: RpcError, operation: string, requestId: string | undefined) {
  const { code, message, data } = error;
  const kind = code === -32601 ? "unsupported" : code === -32603 ? "io" : "invalid_argument";
  return failureOf(data ?? { kind, error: message, code }, { message, operation, requestId });
}
