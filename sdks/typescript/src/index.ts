export * from "./agent/index.js";
export { type ErrorFacts, type ErrorKind, SandkeepError } from "./errors.js";
export type { Content, OnProgress, Progress, Stream } from "./transport/body.js";
export type { RetryOptions } from "./transport/retry.js";
export type { CallOptions, Fetch, Secret, TransportOptions } from "./transport/transport.js";
