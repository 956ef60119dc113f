/** Callers that are told how far something is. */

import { SandkeepError } from "../errors.js";

/** How much has gone or come, of how much if that is known. */
export interface Progress {
  bytes: number;
  total: number | undefined;
}

export type OnProgress = (progress: Progress) => void;

/** A listener whose own failures are told as such, not as those of the line. */
export function careful(
  onProgress: OnProgress | undefined,
  operation: string,
): OnProgress | undefined {
  if (onProgress === undefined) return undefined;
  return (progress) => {
    try {
      onProgress(progress);
    } catch (cause) {
      const message = `\`onProgress\` failed: ${cause instanceof Error ? cause.message : cause}`;
      throw new SandkeepError(message, { kind: "invalid_argument", operation, cause });
    }
  };
}
