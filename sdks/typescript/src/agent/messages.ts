// JSON-RPC 2.0 as it lies on the wire.

export type MessageId = string | number | null;

export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** A request has an id and a method, a notification no id, a response no method. */
export interface Message {
  jsonrpc: "2.0";
  id?: MessageId;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: RpcError;
}

export function request(id: MessageId, method: string, params: unknown): Message {
  return { jsonrpc: "2.0", id, method, params };
}

export function notification(method: string, params: unknown): Message {
  return { jsonrpc: "2.0", method, params };
}

export const METHOD_NOT_FOUND = -32601;
export const INTERNAL_ERROR = -32603;

export function asMessage(value: unknown): Message | undefined {
  const one = typeof value === "object" && value !== null && !Array.isArray(value);
  return one && (value as Message).jsonrpc === "2.0" ? (value as Message) : undefined;
}
