// The client of specification 001: files and sessions of agents on /v2.

import { SandkeepError } from "../errors.js";
import type { Received } from "../transport/received.js";
import { type Ask, type CallOptions, Transport } from "../transport/transport.js";
import { Calls, orAborted } from "./calls.js";
import { Comeback } from "./comeback.js";
import { Connection } from "./connection.js";
import type { SandboxAgentOptions } from "./options.js";
import { SessionMethods } from "./sessions.js";

/**
 * Files and sessions for agents. Small things go by JSON-RPC on `/v2/rpc`, bytes by HTTP on
 * `/v2/fs`.
 *
 * Whatever goes wrong with a call rejects that call with a `SandkeepError`, and the client stays
 * usable: it connects again when the server has forgotten it.
 */
export class SandboxAgentClient extends SessionMethods {
  readonly #transport: Transport;
  readonly #options: SandboxAgentOptions;
  readonly #transfers = new Calls();
  readonly #comeback = new Comeback();
  #agent: string | undefined;
  /** Whether a call may open a connection when there is none. */
  #mayConnect: boolean;
  #opening: Opening | undefined;
  #connection: Connection | undefined;

  constructor(options: SandboxAgentOptions) {
    super();
    this.#transport = new Transport(options);
    this.#options = options;
    this.#agent = options.agent;
    this.#mayConnect = options.autoConnect ?? true;
    // What fails here is told to the first call, which tries again.
    if (this.#mayConnect) this.#open().catch(() => {});
  }

  get connected(): boolean {
    return this.#connection !== undefined;
  }

  /** What the server calls the connection; undefined if there is none. */
  get clientId(): string | undefined {
    return this.#connection?.id;
  }

  /** Connects, unless it is connected already. */
  async connect(options: { agent?: string; signal?: AbortSignal } = {}): Promise<void> {
    if (options.agent !== undefined && options.agent !== this.#agent) {
      await this.disconnect();
      this.#agent = options.agent;
    }
    this.#mayConnect = this.#options.autoConnect ?? true;
    await orAborted(this.#open(), "connect", options.signal);
  }

  /** Leaves the server. Sessions stay; calls fail until `connect` is called again. */
  async disconnect(): Promise<void> {
    const why = notConnected("the client was disconnected");
    const [opening, connection] = [this.#opening, this.#connection];
    [this.#mayConnect, this.#opening, this.#connection] = [false, undefined, undefined];
    this.#comeback.stop();
    opening?.stop(why);
    await connection?.close(why);
  }

  /** Leaves the server for good, and ends all that is under way. */
  async dispose(): Promise<void> {
    const message = "the client was disposed of";
    this.#transfers.stop(new SandkeepError(message, { kind: "aborted", hint: "make a new one" }));
    await this.disconnect();
  }

  protected override get agent(): string | undefined {
    return this.#agent;
  }

  protected override call<T>(method: string, params: object, options?: CallOptions): Promise<T> {
    return this.#withConnection(method, options, (it) => it.call<T>(method, params, options));
  }

  protected override talk<T>(method: string, params: object, options?: CallOptions): Promise<T> {
    const say = (connection: Connection) => connection.callAndListen<T>(method, params, options);
    return this.#withConnection(method, options, say);
  }

  protected override notify(method: string, params: object, options?: CallOptions): Promise<void> {
    return this.#withConnection(method, options, (it) => it.notify(method, params, options));
  }

  // Bytes need no connection.
  protected override transfer<T>(ask: Ask, take: (answer: Received) => Promise<T>): Promise<T> {
    return this.#transfers.during(ask.operation, ask.signal, async (signal) =>
      take(await this.#transport.send({ ...ask, signal })),
    );
  }

  async #withConnection<T>(
    operation: string,
    options: CallOptions | undefined,
    use: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const connection = await this.#ready(operation, options?.signal);
    const answer = await use(connection).catch(async (error: unknown) => {
      if (!isForgotten(error)) throw error;
      // The server never began what it was asked by somebody it does not know.
      this.#lose(connection, error);
      return use(await this.#ready(operation, options?.signal));
    });
    this.#comeback.renew();
    return answer;
  }

  async #ready(operation: string, signal: AbortSignal | undefined): Promise<Connection> {
    if (this.#connection) return this.#connection;
    if (!this.#mayConnect && !this.#opening) {
      throw this.#transfers.end ?? notConnected("the client is not connected");
    }
    return orAborted(this.#open(), operation, signal);
  }

  #open(): Promise<Connection> {
    if (this.#transfers.end) return Promise.reject(this.#transfers.end);
    this.#opening ??= new Opening((signal) => this.#introduce(signal));
    const opening = this.#opening;
    return opening.connection.then(
      (connection) => {
        if (this.#opening !== opening) throw leave(connection);
        this.#connection = connection;
        return connection;
      },
      (error) => {
        if (this.#opening === opening) this.#opening = undefined;
        throw error;
      },
    );
  }

  #introduce(signal: AbortSignal): Promise<Connection> {
    if (!this.#agent) throw noAgent();
    const ends = {
      onLost: (connection: Connection, why: SandkeepError) => this.#lose(connection, why),
      onSign: () => this.#comeback.renew(),
    };
    return Connection.open(this.#transport, this.#agent, this.#options, ends, signal);
  }

  /** A connection that the server does not know any more, or whose stream it refuses. */
  #lose(lost: Connection, why: SandkeepError): void {
    lost.forget(why);
    if (this.#connection !== lost) return;
    this.#connection = undefined;
    this.#opening = undefined;
    if (!this.#mayConnect || !isForgotten(why)) return;
    // A call that is made meanwhile connects at once.
    const open = async () => this.#connection ?? this.#open();
    void this.#comeback.begin(why, open);
  }
}

/** A connection that is being made, for all who wait for it. */
class Opening {
  readonly connection: Promise<Connection>;
  readonly #calls = new Calls();

  constructor(open: (signal: AbortSignal) => Promise<Connection>) {
    this.connection = this.#calls.during("initialize", undefined, async (signal) => open(signal));
  }

  stop(why: SandkeepError): void {
    this.#calls.stop(why);
  }
}

/** The server restarted, or nobody used the connection for too long. */
function isForgotten(error: unknown): error is SandkeepError {
  const problem = error instanceof SandkeepError ? error.problem : undefined;
  const type = (problem as { type?: unknown } | undefined)?.type;
  return typeof type === "string" && type.endsWith(":client_not_found");
}

function notConnected(message: string): SandkeepError {
  return new SandkeepError(message, { kind: "not_connected", hint: "call connect() first" });
}

/** A connection that was made for somebody who has gone meanwhile. */
function leave(connection: Connection): SandkeepError {
  const why = notConnected("the client was disconnected");
  void connection.close(why);
  return why;
}

function noAgent(): SandkeepError {
  const hint = 'give the client an agent, such as "mock"';
  return new SandkeepError("there is no agent to talk to", { kind: "invalid_argument", hint });
}
