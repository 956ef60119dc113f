export * from "./agent/index.js";
export { DefaultFiles, type SessionOptions } from "./default_files.js";
export { type ErrorFacts, type ErrorKind, SandkeepError } from "./errors.js";
export { Batch, type StepConditions, type StepWriteOptions } from "./files/batch.js";
export type { Conditions } from "./files/conditions.js";
export { ReadFile } from "./files/file.js";
export { type EditOptions, Files, type WriteOptions, type Written } from "./files/files.js";
export {
  type ArchiveFormat,
  type ArchiveOptions,
  type Entry,
  type GetOptions,
  type ListOptions,
  type Range,
  ReadableFiles,
  type ReadOptions,
} from "./files/readable.js";
export { type Finding, Search } from "./files/search.js";
export { type Notice, Watch, type WatchOptions } from "./files/watch.js";
export type {
  Access,
  Attach,
  AuditEvent,
  BatchStep,
  BatchWriteMode,
  DefaultAction,
  DefaultEntry,
  DefaultEntryType,
  DefaultMove,
  DefaultStat,
  DefaultUpload,
  DefaultWrite,
  Difference,
  DifferenceChange,
  EditResult,
  EntryKind,
  ForkRequest,
  FoundLine,
  Health,
  KeyInfo,
  Letters,
  Limits,
  MadeKey,
  NewKeyRequest,
  NewSandboxRequest,
  NewSnapshotRequest,
  NoticeChange,
  Origin,
  Replacement,
  Role,
  SandboxChange,
  SandboxInfo,
  SandboxKind,
  SearchEnd,
  SearchRequest,
  SignedAddress,
  SignRequest,
  SnapshotInfo,
  Stat,
  Stats,
  Target,
  Unpacked,
  Versions,
} from "./generated/schemas.js";
export { type Page, Paged } from "./paged.js";
export { Audit, type AuditOptions } from "./sandboxes/audit.js";
export { Keys } from "./sandboxes/keys.js";
export { Sandbox } from "./sandboxes/sandbox.js";
export { Sandboxes, type SandboxListOptions } from "./sandboxes/sandboxes.js";
export { type ImportOptions, Snapshots } from "./sandboxes/snapshots.js";
export { Sandkeep, type SandkeepOptions } from "./sandkeep.js";
export type { Content } from "./transport/body.js";
export type { OnProgress, Progress } from "./transport/progress.js";
export type { RetryOptions } from "./transport/retry.js";
export type { Stream } from "./transport/source.js";
export type { CallOptions, Fetch, Secret, TransportOptions } from "./transport/transport.js";
