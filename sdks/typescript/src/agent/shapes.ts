// What is sent and answered on /v2, as TypeScript sees it.

import type { BothSpellings, SessionQuery } from "./spellings.js";

export type FsEntryType = "file" | "directory";

export type FsEntry = BothSpellings<{
  name: string;
  path: string;
  entryType: FsEntryType;
  size: number;
  modified?: string | null;
}>;

export type FsStat = Omit<FsEntry, "name">;
export type FsWriteResponse = BothSpellings<{ path: string; bytesWritten: number }>;
export type FsActionResponse = { path: string };
export type FsMoveResponse = { from: string; to: string };
export type FsUploadBatchResponse = { paths: string[]; truncated: boolean };

export type FsEntriesQuery = SessionQuery & { path?: string | null };
export type FsPathQuery = SessionQuery & { path: string };
export type FsDeleteQuery = FsPathQuery & { recursive?: boolean | null };
export type FsUploadBatchQuery = FsEntriesQuery;
export type FsMoveRequest = { from: string; to: string; overwrite?: boolean | null };

/** What a program tells about a session; it is kept with the session as it is. */
export interface SessionMetadata {
  /** The agent that works in it; that of the client if it is left out. */
  agent?: string;
  title?: string;
  /** The id that the session shall have, if it is free. */
  requestedSessionId?: string;
  [key: string]: unknown;
}

export interface NewSessionRequest {
  /** Where relative paths of the session begin; the server's working directory if left out. */
  cwd?: string;
  mcpServers?: unknown[];
  metadata?: SessionMetadata;
}

export type LoadSessionRequest = NewSessionRequest & SessionQuery;

export type NewSessionResponse = BothSpellings<{ sessionId: string }> & Record<string, unknown>;

export type SessionInfo = BothSpellings<{
  sessionId: string;
  agent: string;
  directory: string;
  createdAt: number | string;
  updatedAt: number | string;
  ended: boolean;
  title?: string;
}> &
  Record<string, unknown>;

export type TerminateSessionResponse = BothSpellings<{
  terminated: boolean;
  alreadyEnded: boolean;
  reason: string;
  terminatedBy: string;
}>;

/** A piece of a prompt, as the Agent Client Protocol has it; `text` is the plainest. */
export type ContentBlock =
  | { type: "text"; text: string }
  | { type: string; [key: string]: unknown };

export type PromptRequest = SessionQuery & { prompt: string | ContentBlock[] };
export type PromptResponse = BothSpellings<{ stopReason: string }>;

/** `session/update`: what an agent says while it works. */
export interface SessionNotification {
  sessionId: string;
  update: { sessionUpdate: string; [key: string]: unknown };
}

export interface ReadTextFileRequest {
  sessionId: string;
  path: string;
  /** The first line that is wanted, counted from 1. */
  line?: number | null;
  /** How many lines are wanted. */
  limit?: number | null;
}

export interface WriteTextFileRequest {
  sessionId: string;
  path: string;
  content: string;
}

export interface PermissionRequest {
  sessionId: string;
  toolCall: Record<string, unknown>;
  options: { optionId: string; name: string; kind: string }[];
}

export interface PermissionResponse {
  outcome: { outcome: "cancelled" } | { outcome: "selected"; optionId: string };
}
