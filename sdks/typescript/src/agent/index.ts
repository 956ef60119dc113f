export { SandboxAgentClient } from "./client.js";
export type { Body } from "./files.js";
export type { Message, MessageId, RpcError } from "./messages.js";
export type { AgentListeners, AgentRequestHandlers, SandboxAgentOptions } from "./options.js";
export type * from "./shapes.js";
export type { BothSpellings, SessionQuery } from "./spellings.js";
