// Sessions and prompts: what is said to an agent beside the files that it works on.

import type { CallOptions } from "../transport/transport.js";
import { FileMethods } from "./files.js";
import type * as Wire from "./shapes.js";
import { bothSpellings, type SessionQuery, sessionOf } from "./spellings.js";

/** A server that does not hear of it by then ends the turn by itself. */
const LONGEST_CANCEL = 2_000;

export abstract class SessionMethods extends FileMethods {
  /** Who works in sessions that name nobody. */
  protected abstract get agent(): string | undefined;
  /** As `call`, while the agent is listened to. */
  protected abstract talk<T>(method: string, params: object, options?: CallOptions): Promise<T>;
  protected abstract notify(method: string, params: object, options?: CallOptions): Promise<void>;

  async newSession(
    request: Wire.NewSessionRequest = {},
    options?: CallOptions,
  ): Promise<Wire.NewSessionResponse> {
    const params = this.#sessionParams(request);
    return bothSpellings(await this.call<Wire.NewSessionResponse>("session/new", params, options));
  }

  /** Comes back to a session; an id that the server does not know becomes one. */
  async loadSession(
    request: Wire.LoadSessionRequest,
    options?: CallOptions,
  ): Promise<Record<string, unknown>> {
    const params = { ...sessionOf(request), ...this.#sessionParams(request) };
    const loaded = await this.call<object | null>("session/load", params, options);
    return bothSpellings({ ...loaded, ...sessionOf(request) });
  }

  /**
   * Says something to the agent and waits for the end of its turn, whose `timeout` is for ever here.
   * The server cancels a turn of more than two minutes and says `timeout`, and some runtimes wait for
   * no answer longer than five.
   */
  async prompt(
    request: Wire.PromptRequest,
    options: CallOptions = {},
  ): Promise<Wire.PromptResponse> {
    const { prompt } = request;
    const blocks = typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt;
    const params = { ...sessionOf(request), prompt: blocks };
    const { signal, timeout = 0 } = options;
    const wasAborted = signal?.aborted;
    const patient = { signal, timeout };
    try {
      return bothSpellings(await this.talk<Wire.PromptResponse>("session/prompt", params, patient));
    } catch (error) {
      // Whoever no longer waits for the agent does not want it to go on.
      if (signal?.aborted && !wasAborted) {
        this.cancel(request, { timeout: LONGEST_CANCEL }).catch(() => {});
      }
      throw error;
    }
  }

  /** Ends the turn that the agent is at. */
  async cancel(session: string | SessionQuery, options?: CallOptions): Promise<void> {
    await this.notify("session/cancel", named(session), options);
  }

  /** All sessions of whoever asks, however many pages that takes. */
  async listSessions(options?: CallOptions): Promise<{ sessions: Wire.SessionInfo[] }> {
    const sessions: Wire.SessionInfo[] = [];
    let cursor: string | null | undefined;
    do {
      const params = cursor ? { cursor } : {};
      const page = await this.call<SessionPage>("_sandboxagent/session/list", params, options);
      sessions.push(...page.sessions.map(bothSpellings));
      cursor = page.nextCursor;
    } while (cursor);
    return { sessions };
  }

  async getSession(
    session: string | SessionQuery,
    options?: CallOptions,
  ): Promise<Wire.SessionInfo> {
    const method = "_sandboxagent/session/get";
    return bothSpellings(await this.call<Wire.SessionInfo>(method, named(session), options));
  }

  /** Ends a session for good; what lies in its directory stays. */
  async terminateSession(
    session: string | SessionQuery,
    options?: CallOptions,
  ): Promise<Wire.TerminateSessionResponse> {
    const method = "_sandboxagent/session/terminate";
    const ended = await this.call<Wire.TerminateSessionResponse>(method, named(session), options);
    return bothSpellings(ended);
  }

  async setSessionMetadata(
    session: string | SessionQuery,
    metadata: Wire.SessionMetadata,
    options?: CallOptions,
  ): Promise<void> {
    const params = { ...named(session), metadata };
    await this.call("_sandboxagent/session/set_metadata", params, options);
  }

  /** Lets go of a session without ending it. */
  async detachSession(session: string | SessionQuery, options?: CallOptions): Promise<void> {
    await this.call("_sandboxagent/session/detach", named(session), options);
  }

  #sessionParams({ cwd, mcpServers, metadata }: Wire.NewSessionRequest): object {
    const about = { agent: this.agent, ...metadata };
    return {
      ...(cwd === undefined ? {} : { cwd }),
      mcpServers: mcpServers ?? [],
      _meta: { "sandboxagent.dev": about },
    };
  }
}

interface SessionPage {
  sessions: Wire.SessionInfo[];
  nextCursor?: string | null;
}

function named(session: string | SessionQuery): { sessionId?: string } {
  return typeof session === "string" ? { sessionId: session } : sessionOf(session);
}
