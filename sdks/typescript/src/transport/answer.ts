/** What a server's answer means: a value, or a failure with all that is known of it. */

import { SandkeepError } from "../errors.js";

/** So much of an answer that says what went wrong is read; the rest tells nobody anything. */
const LONGEST_PROBLEM = 64 * 1024;

/** The failure that an answer tells of. Reads its body. */
export async function failure(answer: Response, operation: string): Promise<SandkeepError> {
  return failureIn(answer, await beginning(answer), operation);
}

/** The failure that an answer tells of whose body was read. */
export function failureIn(
  answer: { status: number; headers: Headers },
  text: string,
  operation: string,
): SandkeepError {
  const problem = parsed(text);
  const { message, kind, hint, path } = told(problem);
  const status = answer.status;
  return new SandkeepError(message ?? `the server answered ${status}`, {
    status,
    kind: kind ?? kindOf(status),
    hint,
    path,
    operation,
    requestId: answer.headers.get("x-request-id") ?? undefined,
    retryAfter: seconds(answer.headers.get("retry-after")),
    problem: problem ?? (text === "" ? undefined : text),
  });
}

/** The failure that a problem in a JSON-RPC error tells of. */
export function failureOf(
  problem: unknown,
  facts: { message: string; operation: string; requestId?: string | undefined },
): SandkeepError {
  const { message, kind, hint, path, status } = told(problem);
  return new SandkeepError(message ?? facts.message, {
    kind: kind ?? (status === undefined ? "invalid_argument" : kindOf(status)),
    operation: facts.operation,
    requestId: facts.requestId,
    status,
    hint,
    path,
    problem,
  });
}

/** The JSON of an answer. */
export async function json<T>(answer: Response, operation: string): Promise<T> {
  try {
    return (await answer.json()) as T;
  } catch (cause) {
    if (cause instanceof SandkeepError) throw cause;
    throw notUnderstood("the answer is not JSON", operation, cause);
  }
}

/** An answer that no version of the contract allows: something else answered, or it was cut. */
export function notUnderstood(message: string, operation: string, cause?: unknown): SandkeepError {
  const hint = "look whether baseUrl leads to a Sandkeep server";
  return new SandkeepError(message, { kind: "not_understood", hint, operation, cause });
}

interface Told {
  message?: string;
  kind?: string;
  hint?: string;
  path?: string;
  status?: number;
}

/** `/v1/sandboxes` says `error`; problem details say `detail` and `title`; tools have `metadata`. */
function told(problem: unknown): Told {
  if (typeof problem !== "object" || problem === null) return {};
  const { metadata, ...rest } = problem as Record<string, unknown>;
  const fields = { ...(typeof metadata === "object" ? metadata : {}), ...rest };
  const text = (name: string) => {
    const value = fields[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const said: Told = {};
  const message = text("error") ?? text("detail") ?? text("title");
  const [kind, hint, path, status] = [text("kind"), text("hint"), text("path"), fields.status];
  if (message !== undefined) said.message = message;
  if (kind !== undefined) said.kind = kind;
  if (hint !== undefined) said.hint = hint;
  if (path !== undefined) said.path = path;
  if (typeof status === "number") said.status = status;
  return said;
}

/** What a status means when nobody says more: a proxy answered, or nobody was let in. */
function kindOf(status: number): string {
  switch (status) {
    case 401:
      return "token_invalid";
    case 403:
      return "forbidden";
    case 404:
      return "not_found";
    case 412:
      return "precondition_failed";
    case 413:
      return "file_too_large";
    case 416:
      return "range_not_satisfiable";
    case 429:
      return "too_many_requests";
    case 504:
      return "timeout";
    default:
      return status >= 500 ? "unavailable" : "invalid_argument";
  }
}

async function beginning(answer: Response): Promise<string> {
  if (answer.body === null) return "";
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    while (text.length < LONGEST_PROBLEM) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    // What arrived is what there is; the status says enough.
  } finally {
    reader.cancel().catch(() => {});
  }
  return text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function seconds(header: string | null): number | undefined {
  if (header === null) return undefined;
  const number = Number(header);
  if (Number.isFinite(number)) return Math.max(0, number);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000);
}
