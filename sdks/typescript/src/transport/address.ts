/** How a request is addressed. A text of the caller is never more than one part of an address. */

import { SandkeepError } from "../errors.js";

/** What stands behind the `?`; what is undefined is left out. */
export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

/**
 * One segment of an address. Addresses with `.` and `..` are shortened before they are sent, even
 * where those are written as `%2e`: they would lead to another route, so that they never get there.
 */
export function segment(value: string, what: string): string {
  if (value === "" || value === "." || value === "..") {
    throw new SandkeepError(`\`${value}\` is not the name of a ${what}`, {
      kind: "invalid_argument",
    });
  }
  return encoded(value, what);
}

/**
 * A path in a sandbox, with a slash before it; nothing for the root. A slash at its end stays: it
 * says that only a directory is meant.
 */
export function pathInAddress(path: string): string {
  const segments = path.split("/");
  if (segments.includes("..")) {
    const hint = "use a path inside the sandbox, without `..`";
    throw new SandkeepError(`\`..\` is not allowed in a path: ${path}`, {
      kind: "outside_sandbox",
      hint,
      path,
    });
  }
  const named = segments.filter((name) => name !== "" && name !== ".");
  if (named.length === 0) return "";
  const mustBeDirectory = ["", "."].includes(segments.at(-1) ?? "") ? "/" : "";
  return `/${named.map((name) => encoded(name, "path")).join("/")}${mustBeDirectory}`;
}

/** Where the server is, without a slash at the end. */
export function baseAddress(baseUrl: string | URL): string {
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch (cause) {
    throw wrongBase(`\`${baseUrl}\` is not an address`, cause);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw wrongBase(`\`${url.protocol}\` is neither http nor https`);
  }
  if (url.username !== "" || url.password !== "") {
    throw wrongBase("an address with a user cannot be asked; give the token as `token`");
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

/** The query with its `?`, or nothing. */
export function queryString(query: Query | undefined): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined) continue;
    const values = typeof value === "object" ? value : [String(value)];
    for (const one of values) params.append(name, one);
  }
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

function encoded(text: string, what: string): string {
  try {
    return encodeURIComponent(text);
  } catch (cause) {
    // Half of a surrogate pair stands for no character.
    throw new SandkeepError(`the ${what} is not Unicode`, { kind: "invalid_path", cause });
  }
}

function wrongBase(message: string, cause?: unknown): SandkeepError {
  const hint = "baseUrl is like http://127.0.0.1:2468";
  return new SandkeepError(message, { kind: "invalid_argument", hint, cause });
}
