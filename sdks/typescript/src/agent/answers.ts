// What comes from the agent: notifications for listeners, requests for handlers.

import { INTERNAL_ERROR, METHOD_NOT_FOUND, type Message, type RpcError } from "./messages.js";
import type { AgentListeners, AgentRequestHandlers } from "./options.js";
import type { SessionNotification } from "./shapes.js";

// The methods that the Agent Client Protocol lets an agent call, and who answers them.
const METHODS = {
  "fs/read_text_file": "readTextFile",
  "fs/write_text_file": "writeTextFile",
  "session/request_permission": "onPermissionRequest",
} as const satisfies Record<string, keyof AgentRequestHandlers>;

type Handler = (params: unknown) => unknown;

/** Told at `initialize`, so that no agent asks for what nobody would answer. */
export function capabilities(handlers: AgentRequestHandlers) {
  const { readTextFile, writeTextFile } = handlers;
  return { fs: { readTextFile: !!readTextFile, writeTextFile: !!writeTextFile } };
}

/** Whether anybody would hear or answer what comes. */
export function isListening(options: AgentListeners & AgentRequestHandlers): boolean {
  const { onEvent, onSessionUpdate, onPermissionRequest, readTextFile, writeTextFile } = options;
  return !!(onEvent || onSessionUpdate || onPermissionRequest || readTextFile || writeTextFile);
}

/** Passes a message on to those who listen. */
export function tell(listeners: AgentListeners, message: Message): void {
  heard(() => listeners.onEvent?.(message));
  if (message.method === "session/update" && message.id === undefined) {
    heard(() => listeners.onSessionUpdate?.(message.params as SessionNotification));
  }
}

/** The response to a request of the agent; it never rejects. */
export async function answer(handlers: AgentRequestHandlers, asked: Message): Promise<Message> {
  const outcome = await outcomeOf(handlers, asked);
  return { jsonrpc: "2.0", id: asked.id ?? null, ...outcome };
}

async function outcomeOf(
  handlers: AgentRequestHandlers,
  { method = "", params }: Message,
): Promise<{ result: unknown } | { error: RpcError }> {
  const name = Object.hasOwn(METHODS, method) ? METHODS[method as keyof typeof METHODS] : undefined;
  const handler = name && (handlers[name] as Handler | undefined);
  if (!handler) {
    return { error: { code: METHOD_NOT_FOUND, message: `this client does not answer ${method}` } };
  }
  try {
    return { result: (await handler(params)) ?? {} };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { error: { code: INTERNAL_ERROR, message } };
  }
}

// A listener that throws is reported as the platform reports it of its own, and disturbs nobody.
function heard(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
