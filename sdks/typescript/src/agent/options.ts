import type { TransportOptions } from "../transport/transport.js";
import type { Message } from "./messages.js";
import type {
  PermissionRequest,
  PermissionResponse,
  ReadTextFileRequest,
  SessionNotification,
  WriteTextFileRequest,
} from "./shapes.js";

type Awaitable<T> = T | Promise<T>;

/** What an agent may ask of its client. What has no handler is refused as an unknown method. */
export interface AgentRequestHandlers {
  onPermissionRequest?: (request: PermissionRequest) => Awaitable<PermissionResponse>;
  readTextFile?: (request: ReadTextFileRequest) => Awaitable<{ content: string }>;
  writeTextFile?: (request: WriteTextFileRequest) => Awaitable<void>;
}

/** What a client is told while agents work. */
export interface AgentListeners {
  /** Every message of the server's stream, in its order, whatever else it leads to. */
  onEvent?: (message: Message) => void;
  onSessionUpdate?: (notification: SessionNotification) => void;
}

export interface SandboxAgentOptions
  extends TransportOptions,
    AgentRequestHandlers,
    AgentListeners {
  /** Who is talked to: `mock` is built into the server. */
  agent?: string | undefined;
  /** Connect at once, and again when the server has forgotten the connection [default: true]. */
  autoConnect?: boolean | undefined;
  /** After how many milliseconds without a sign the stream is opened anew [default: 45,000]; the
   * server gives one every 15 s. */
  silence?: number | undefined;
}
