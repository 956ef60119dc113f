// Made by `npm run generate` from contract/openapi.json. Do not edit.

/** What a sandbox is attached to: just one of the two. */
export interface Attach {
  /** The name or id of a Docker or Podman container. When it ends, the sandbox is unavailable until it runs again. Such as `web`. */
  container?: string;
  /** The id of a process. When it ends, the sandbox is unavailable for good. */
  pid?: number;
}

/** One path that differs. */
export interface Difference {
  /** Where, from the root of the sandbox on. */
  path: string;
  /** How. */
  change: DifferenceChange;
  /** Where it was before, if it was renamed. */
  from?: string;
  /** What was there. */
  before?: Stat;
  /** What is there. */
  after?: Stat;
}

/** How a path differs. */
export type DifferenceChange = "added" | "removed" | "modified" | "renamed";

/** What an edit did, or would do. */
export interface EditResult {
  /** The file as it is now. */
  entry: Stat;
  /** How often each replacement was made. */
  replaced: Array<number>;
  /** The differences as a unified diff. */
  diff: string;
  /** Whether more differs than the diff tells. */
  truncated: boolean;
}

/** What is to be replaced in a file. */
export interface EditRequest {
  /** What is replaced, in order: each in the outcome of the ones before. */
  replacements: Array<Replacement>;
  /** Whether the file stays as it is, and only the outcome is told. */
  dryRun?: boolean;
  /** How the bytes stand for text, such as `utf-16le` or `windows-1252`. Without it the byte order mark says so, or else it is UTF-8. */
  encoding?: string | null;
}

/** How a search ended. */
export interface SearchEnd {
  /** Why: `complete`, `depth` if directories lie deeper than was asked for, or which budget was used up. */
  reason: string;
  /** Whether there may be more. */
  truncated: boolean;
  /** How many names or lines were found. */
  results: number;
  /** How many files were read. */
  files: number;
  /** How many bytes of them. */
  bytes: number;
  /** How many were passed by because they are not text. */
  binary: number;
  /** How many could not be read. */
  unreadable: number;
}

/** Something that somebody did, or was not let do. */
export interface AuditEvent {
  /** When it ended (RFC 3339). */
  time: string;
  /** The id of the key, or `token`; absent where nobody had to show one. */
  key?: string;
  /** The sandbox. */
  sandbox?: string;
  /** What was asked for. Such as `write`. */
  operation: string;
  /** Of what, from the root of the sandbox on. */
  path?: string;
  /** From where it was moved or copied. */
  from?: string;
  /** `ok`, `refused`, `abandoned`, `lost`, or the kind of the failure. Such as `ok`. */
  outcome: string;
  /** Why it was refused. */
  reason?: string;
  /** How many events before this one were lost. */
  lost?: number;
  /** How many bytes were written. */
  bytes?: number;
  /** The version that is there since. */
  version?: string;
  /** The id of the request. */
  request?: string;
  /** What else it was about: the id of a key or of a snapshot, the sandbox that a fork is of, or what was spelled where a path was meant. */
  subject?: string;
  /** How many there were, where one event tells of many: steps of a batch, entries of an archive, refusals that are not told one by one. */
  count?: number;
}

/** Some of the events. */
export interface AuditPage {
  /** The events, in the order in which they were recorded. */
  events: Array<AuditEvent>;
  /** What to send as `cursor` to go on behind them, now or later. */
  cursor?: string;
  /** Whether there are more by now. */
  more: boolean;
  /** Whether events before these are gone, because they were too old or too many. */
  gap: boolean;
}

/** One line of the answer. */
export type SearchLine =
  | (Stat & {
      type: "name";
    })
  | (FoundLine & {
      type: "line";
    })
  | (SearchEnd & {
      type: "end";
    });

/** A sandbox that is to begin as a copy of this one. */
export interface ForkRequest {
  /** What it is called; made up without it. */
  id?: string | null;
  /** A snapshot; as the sandbox is now without it. */
  snapshot?: string | null;
  /** The absolute path at which clients of `/v1/fs` see the tree; `/` without it. */
  prefix?: string | null;
  limits?: Limits | null;
  /** What programs want to know about it. */
  labels?: Record<string, string>;
  /** How many seconds it lives; for ever without it. */
  ttl?: number | null;
}

/** What was made or removed. */
export interface DefaultAction {
  /** The absolute path. */
  path: string;
}

/** One entry of a listing; links are not followed. */
export interface DefaultEntry {
  /** Its name in the directory. */
  name: string;
  /** Its absolute path. */
  path: string;
  /** What it is. */
  entryType: DefaultEntryType;
  /** Its length in bytes. */
  size: number;
  /** When it last changed, RFC 3339 in UTC. Such as `2023-11-14T22:13:20.123456789+00:00`. */
  modified?: string;
}

/** What an entry is. Everything that is not a directory is a file. */
export type DefaultEntryType = "file" | "directory";

/** What to move or copy, and whereto. */
export interface DefaultMoveRequest {
  /** What to take. */
  from: string;
  /** Where to put it; missing directories on the way are made. */
  to: string;
  /** Whether what is there is replaced whole; false when absent. */
  overwrite?: boolean | null;
}

/** What was moved or copied, as absolute paths. */
export interface DefaultMove {
  /** Where it was. */
  from: string;
  /** Where it is. */
  to: string;
}

/** What a path leads to; links are followed. */
export interface DefaultStat {
  /** The absolute path. */
  path: string;
  /** What is there. */
  entryType: DefaultEntryType;
  /** Its length in bytes. */
  size: number;
  /** When it last changed, RFC 3339 in UTC. Such as `2023-11-14T22:13:20.123456789+00:00`. */
  modified?: string;
}

/** What an archive put in place. */
export interface DefaultUpload {
  /** Absolute paths in the order of the archive, the first 1,024 of them. */
  paths: Array<string>;
  /** Whether there were more. */
  truncated: boolean;
}

/** What a write did. */
export interface DefaultWrite {
  /** The absolute path. */
  path: string;
  /** How many bytes the body had. */
  bytesWritten: number;
}

/** How the server is. */
export interface Health {
  /** Always `ok`. Such as `ok`. */
  status: string;
}

/** What is known of a key. The key itself is never shown again. */
export interface KeyInfo {
  /** The part of the key that everybody may know. Such as `k3v9q0w8e7r6`. */
  id: string;
  /** What its holder may do. */
  role: Role;
  /** The sandboxes that he may see; all without it. */
  sandboxes?: Array<string>;
  /** The directory that he may see of each of them. */
  prefix?: string;
  /** What it is for. */
  label: string;
  /** When it was made (RFC 3339). */
  createdAt: string;
  /** The key that made it, or `token`. */
  createdBy: string;
  /** When it ends (RFC 3339), if it does. */
  expiresAt?: string;
}

/** Some of the keys. */
export interface KeyPage {
  /** Those that were found. */
  keys: Array<KeyInfo>;
  /** What to send as `cursor` for the next page, if there are more. */
  nextCursor?: string;
}

/** What an entry is. */
export type EntryKind = "file" | "directory" | "symlink" | "special";

/** How long a file is to be. */
export interface LengthRequest {
  /** In bytes. */
  size: number;
}

/** A line that matches. */
export interface FoundLine {
  /** The file, from the root of the sandbox on. */
  path: string;
  /** Which line, from 1 on. */
  line: number;
  /** Where it begins in the file, in bytes. */
  offset: number;
  /** The line, without its end. */
  text: string;
  /** Whether only a part of it is shown. */
  cut: boolean;
  /** Where in `text` the matches are, in bytes: first, and first behind. */
  matches: Array<Array<number>>;
}

/** What a link holds. */
export interface Link {
  /** The path that it leads to, as it is written in it. */
  target: string;
}

/** An entry of a listing. */
export interface ListedEntry {
  /** Its name, without any path. */
  name: string;
  /** Its length in bytes; 0 for a directory. */
  size: number;
  /** When it last changed, in seconds since 1970. */
  modTime: number;
  /** Whether it is a directory. */
  isDir: boolean;
  /** What it is. */
  kind: EntryKind;
  /** Its path from the listed directory on, in a listing of a whole tree. */
  path?: string;
  /** All that `fs-stat` tells, if `details` ask for it. */
  stat?: Stat;
}

/** What a directory holds. */
export interface ListingPage {
  /** What it holds. */
  entries: Array<ListedEntry>;
  /** How many there are in all. Pages by cursor do not count them. */
  total?: number;
  /** Whether there are more than these. */
  truncated: boolean;
  /** What to send as `cursor` for the next page. */
  nextCursor?: string;
}

/** A key that was just made. */
export type MadeKey = KeyInfo & {
  /** The key itself, told here and never again: keep it. Such as `ask_k3v9q0w8e7r6_…`. */
  key: string;
};

/** What is to change of a file or directory; what is absent stays. */
export interface ModeRequest {
  /** Permission bits, in octal. Such as `755`. */
  mode?: string | null;
  /** When it last changed (RFC 3339). */
  modified?: string | null;
}

/** A key that is to be made. */
export interface NewKeyRequest {
  /** What its holder may do. */
  role: Role;
  /** The sandboxes that he may see; all without it. */
  sandboxes?: Array<string> | null;
  /** The directory that he may see of each of them; everything without it. */
  prefix?: string | null;
  /** After how many seconds it ends; never without it. */
  ttl?: number | null;
  /** What it is for: at most 256 bytes. */
  label?: string;
}

/** A sandbox that is to be made. */
export interface NewSandboxRequest {
  /** 1 to 63 lower-case letters, digits and inner hyphens; made up without it. Such as `alice`. */
  id?: string;
  /** How its tree is kept. */
  kind?: SandboxKind;
  /** The directory of a `host` sandbox, beneath one that the operator allowed; a new one without it. */
  root?: string | null;
  attach?: Attach | null;
  /** Where in the container the tree begins: an absolute path, `/` without it. */
  path?: string | null;
  /** The absolute path at which clients of `/v1/fs` see the tree; `/` without it. */
  prefix?: string | null;
  limits?: Limits | null;
  /** What programs want to know about it. */
  labels?: Record<string, string>;
  /** How many seconds it lives; for ever without it. */
  ttl?: number | null;
  from?: Origin | null;
}

/** A snapshot that is to be taken. */
export interface NewSnapshotRequest {
  /** What it is called; a name that sorts by time is made up without it. */
  id?: string | null;
  /** What a person wants to know about it. */
  message?: string;
  /** What a program wants to know about it. */
  labels?: Record<string, string>;
}

/** Something that happened: the `data` of an event. Its `event` is the kind, its `id` the cursor. */
export interface NoticeData {
  /** What happened. `here`: all before the `id` of this event was told, and more may follow. `resync`: something was missed, so list everything anew. */
  change: NoticeChange;
  /** Where, from the root of the sandbox on. */
  path?: string;
  /** Where it was before it was renamed. */
  from?: string;
  /** What it is, where that is known. */
  kind?: EntryKind;
  /** Why everything must be listed anew. */
  reason?: string;
}

/** What happened. */
export type NoticeChange = "here" | "created" | "modified" | "removed" | "renamed" | "resync";

/** What a sandbox begins as. */
export interface Origin {
  /** Another sandbox. */
  sandbox: string;
  /** A snapshot of it; as it is now without it. */
  snapshot?: string | null;
}

/** What is brought back. */
export interface RestoreRequest {
  /** Only this path, from the root of the sandbox on; everything without it. */
  path?: string | null;
}

/** A sandbox. */
export interface SandboxInfo {
  /** What it is called. */
  id: string;
  /** How its tree is kept. */
  kind: SandboxKind;
  /** The directory of a `host` sandbox, for owners. */
  root?: string;
  /** Whether that directory was made for the sandbox, and goes with it. */
  rootMade?: boolean;
  /** What a `host` sandbox is attached to, for owners. */
  attach?: Attach;
  /** Where in the container the tree begins, for owners. */
  path?: string;
  /** The absolute path at which clients of `/v1/fs` see the tree. */
  prefix: string;
  /** How much it may hold. */
  limits: Limits;
  /** What programs want to know about it. */
  labels: Record<string, string>;
  /** When it was made (RFC 3339). */
  createdAt: string;
  /** When it ends (RFC 3339), if it does. */
  expiresAt?: string;
  /** Whether the server was started with it; it then cannot be changed or removed here. */
  main: boolean;
}

/** What is to change of a sandbox; what is absent stays. */
export interface SandboxChange {
  limits?: Limits | null;
  /** Labels that are set, or taken away by `null`. */
  labels?: Record<string, string | null>;
  /** How many seconds it lives from now on; for ever if it is `null`. */
  ttl?: number | null;
}

/** Some of the sandboxes. */
export interface SandboxPage {
  /** Those that were found. */
  sandboxes: Array<SandboxInfo>;
  /** What to send as `cursor` for the next page, if there may be more. */
  nextCursor?: string;
}

/** What is looked for. */
export interface SearchRequest {
  /** What lines must match; names alone are looked for without it. */
  pattern?: string | null;
  /** Whether every character of the pattern means itself; it is a regular expression otherwise. */
  literal?: boolean;
  /** Whether capital letters matter: `exact`, `alike`, or `smart` (if the pattern has one). */
  letters?: Letters;
  /** Whether the pattern must stand as a word of its own. */
  words?: boolean;
  /** A glob that names must fit, or paths if it has a slash. */
  glob?: string | null;
  /** Whether names that begin with a dot are looked at. */
  hidden?: boolean;
  /** Whether what `.gitignore` and `.ignore` files name, and `.git` itself, is left out. */
  ignore?: boolean;
  /** At most so many levels: 1 is the names of the directory where it begins. */
  maxDepth?: number;
  /** At most so many results, and never more than 10,000. */
  maxResults?: number;
  /** At most so many bytes of files are read. */
  maxBytes?: number | null;
  /** It takes at most so many milliseconds. */
  maxMillis?: number | null;
}

/** What an address is to allow. */
export interface SignRequest {
  /** The file or directory, from the root of the sandbox on. */
  path: string;
  /** What may be done. */
  access?: Access;
  /** Whether everything beneath the path is meant. */
  directory?: boolean;
  /** For how many seconds, at most a week [default: an hour]. */
  ttl?: number | null;
}

/** An address that needs no key. */
export interface SignedAddress {
  /** The address, without the server. Of a directory, put names before the `?`. */
  url: string;
  /** What stands behind `signed=` in it. */
  signed: string;
  /** Until when it is good (RFC 3339). It ends with the key that signed it. */
  expiresAt: string;
}

/** A snapshot. */
export interface SnapshotInfo {
  /** What it is called. */
  id: string;
  /** When it was taken (RFC 3339). */
  createdAt: string;
  /** What a person wants to know about it. */
  message: string;
  /** What a program wants to know about it. */
  labels: Record<string, string>;
  /** The lengths of all its files, added up. */
  bytes: number;
  /** Everything in it that is not a directory. */
  files: number;
  /** Its directories, the root among them. */
  directories: number;
}

/** Some of the snapshots. */
export interface SnapshotPage {
  /** Those that were found, in the order of their ids. */
  snapshots: Array<SnapshotInfo>;
  /** What to send as `cursor` for the next page, if there are more. */
  nextCursor?: string;
}

/** What is at a path. */
export interface Stat {
  /** Where it is, from the root of the sandbox on; `.` for the root itself. */
  path: string;
  /** Its name; empty for the root. */
  name: string;
  /** What it is. */
  kind: EntryKind;
  /** Its length in bytes; 0 for a directory. */
  size: number;
  /** Permission bits, in octal. Such as `644`. */
  mode?: string;
  /** When its content last changed (RFC 3339). */
  modified?: string;
  /** When it was made (RFC 3339). */
  created?: string;
  /** The token of its state, as it stands in an ETag. */
  version?: string;
}

/** How much a sandbox holds. */
export interface Stats {
  /** The lengths of all files, added up. */
  bytes: number;
  /** Everything that is not a directory. */
  files: number;
  /** Directories, the root among them. */
  directories: number;
  /** Files and directories together. */
  nodes: number;
  /** How much it may hold. */
  limits: Limits;
}

/** How the tree of a sandbox is kept. */
export type SandboxKind = "virtual" | "host";

/** From one place to another. */
export interface Trip {
  /** Where it is, from the root of the sandbox on. */
  from: string;
  /** Where it goes. */
  to: string;
  /** What may be there. */
  target?: Target;
}

/** What an archive put in place. */
export interface Unpacked {
  /** How many members there were. */
  entries: number;
  /** Where they are, in the order of the archive: the first 1,024 of them. */
  paths: Array<string>;
  /** Whether there were more. */
  truncated: boolean;
}

/** Versions of a file: one, several, or `*` for any. */
export type Versions = string | Array<string>;

/** What may be done by an address. */
export type Access = "read" | "write";

/** Whether capital letters matter. */
export type Letters = "exact" | "alike" | "smart";

/** How much a sandbox may hold; what is absent or null is unlimited. */
export interface Limits {
  /** The longest file, in bytes. */
  fileSize?: number | null;
  /** The lengths of all files, added up. */
  totalSize?: number | null;
  /** Files and directories, the root included. */
  nodes?: number | null;
}

/** How a write treats what is there. */
export type BatchWriteMode = "replace" | "create" | "append" | "part";

/** A text that another one takes the place of. */
export interface Replacement {
  /** What is looked for, exactly. A `\n` fits every end of a line. */
  old: string;
  /** What takes its place. */
  new: string;
  /** How often it must be there [default: once]. */
  count?: number | null;
  /** Whether every one is replaced, if there is at least one. */
  all?: boolean;
}

/** What the holder of a key may do. Each may do what the ones before it may. */
export type Role = "viewer" | "developer" | "owner";

/** One change of a batch. Paths begin at the root of the sandbox. */
export type BatchStep =
  | {
      path: string;
      /** The content, if it is text. */
      text?: string | null;
      /** The content in base64, if it is not. */
      base64?: string | null;
      mode?: BatchWriteMode;
      /** Where the content of a `part` goes. */
      offset?: number | null;
      /** How long the file must be after a `part`. */
      total?: number | null;
      /** `false` to write only where the directory is there already. */
      parents?: boolean | null;
      ifMatch?: Versions | null;
      ifNoneMatch?: Versions | null;
      op: "write";
    }
  | {
      path: string;
      /** `false` to make one directory alone, which must be new. */
      parents?: boolean | null;
      op: "mkdir";
    }
  | {
      path: string;
      /** What it holds. */
      target: string;
      op: "link";
    }
  | {
      path: string;
      /** `false` to remove a directory only if it is empty. */
      recursive?: boolean | null;
      ifMatch?: Versions | null;
      ifNoneMatch?: Versions | null;
      op: "remove";
    }
  | {
      from: string;
      to: string;
      target?: Target;
      op: "move";
    }
  | {
      from: string;
      to: string;
      target?: Target;
      op: "copy";
    }
  | {
      path: string;
      /** Permission bits, in octal. */
      mode?: string | null;
      /** When it last changed (RFC 3339). */
      modified?: string | null;
      op: "chmod";
    }
  | {
      path: string;
      ifMatch?: Versions | null;
      ifNoneMatch?: Versions | null;
      op: "check";
    };

/** What may be at a destination. */
export type Target = "new" | "replace" | "merge";

/** Fields whose keys are the caller's own words. */
export const FIELDS_WITH_OWN_KEYS: ReadonlySet<string> = new Set(["labels"]);
