/** What a failure is known by. Programs match on `kind`, people read `message` and `hint`. */

/**
 * Kinds that the server tells (contract/errors.md has what each means), and those that the client
 * itself finds out:
 *
 * - `aborted`: the caller's signal was aborted
 * - `connection`: the server could not be reached, or the line broke
 * - `timeout`: the server was silent for too long (the server says so, too)
 * - `not_understood`: the answer is not what the server's contract says
 * - `not_modified`: there are no bytes, because the caller has this version already
 * - `not_connected`: a client for agents has not connected yet, or does so no more
 * - `in_doubt`: a repeated change was refused, perhaps because the first try had succeeded
 */
export type ErrorKind =
  | "aborted"
  | "connection"
  | "not_understood"
  | "not_modified"
  | "not_connected"
  | "token_invalid"
  | "too_many_requests"
  | "endpoint_not_found"
  | "not_found"
  | "not_a_directory"
  | "is_a_directory"
  | "not_a_file"
  | "already_exists"
  | "directory_not_empty"
  | "invalid_path"
  | "invalid_argument"
  | "outside_sandbox"
  | "permission_denied"
  | "forbidden"
  | "read_only"
  | "too_many_links"
  | "file_too_large"
  | "storage_full"
  | "too_many_nodes"
  | "precondition_failed"
  | "range_not_satisfiable"
  | "busy"
  | "locked"
  | "bad_archive"
  | "limit_exceeded"
  | "broken_body"
  | "timeout"
  | "unsupported"
  | "unavailable"
  | "sandbox_unavailable"
  | "in_doubt"
  | "sandbox_not_found"
  | "session_not_found"
  | "tool_not_found"
  | "session_exists"
  | "io"
  | "unsupported_agent"
  | "agent_not_installed"
  | "not_acceptable"
  | "conflict"
  | "connection_not_found"
  | "stream_active"
  | "session_ended"
  // Servers may learn new kinds before this client does.
  | (string & {});

/** What is known of a failure beside its message. */
export interface ErrorFacts {
  kind: ErrorKind;
  status?: number | undefined;
  hint?: string | undefined;
  requestId?: string | undefined;
  operation?: string | undefined;
  path?: string | undefined;
  retryAfter?: number | undefined;
  problem?: unknown;
  cause?: unknown;
}

/** Everything that can go wrong with a call: the one class that this package throws. */
export class SandkeepError extends Error {
  override readonly name = "SandkeepError";
  /** A stable word for programs to match on. */
  readonly kind: ErrorKind;
  /** The HTTP status, if the server answered. */
  readonly status: number | undefined;
  /** What to do next. */
  readonly hint: string | undefined;
  /** The id under which the server's log and audit tell of the request. */
  readonly requestId: string | undefined;
  /** Which call failed, such as `files.write`. */
  readonly operation: string | undefined;
  /** The path that it went wrong at. */
  readonly path: string | undefined;
  /** After how many seconds the server would be asked again. */
  readonly retryAfter: number | undefined;
  /** What the server said, as it said it. */
  readonly problem: unknown;

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.kind = facts.kind;
    this.status = facts.status;
    this.hint = facts.hint;
    this.requestId = facts.requestId;
    this.operation = facts.operation;
    this.path = facts.path;
    this.retryAfter = facts.retryAfter;
    this.problem = facts.problem;
  }
}
