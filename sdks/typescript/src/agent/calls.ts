// The calls that are under way, so that none is left waiting when what they wait for is gone.

import { SandkeepError } from "../errors.js";

export class Calls {
  readonly #underWay = new Set<AbortController>();
  #end: SandkeepError | undefined;

  /** Why nothing is waited for any more. */
  get end(): SandkeepError | undefined {
    return this.#end;
  }

  /** Does work that ends when the caller gives up, or when all calls do. */
  async during<T>(
    operation: string,
    caller: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (this.#end) throw repeated(this.#end, operation);
    const controller = new AbortController();
    const giveUp = () => controller.abort(caller?.reason);
    if (caller?.aborted) giveUp();
    caller?.addEventListener("abort", giveUp, { once: true });
    this.#underWay.add(controller);
    try {
      return await work(controller.signal);
    } catch (error) {
      throw this.#end && !caller?.aborted ? repeated(this.#end, operation) : error;
    } finally {
      this.#underWay.delete(controller);
      caller?.removeEventListener("abort", giveUp);
    }
  }

  /** Ends all that are under way, and all that would begin later. */
  stop(why: SandkeepError): void {
    this.#end ??= why;
    for (const controller of this.#underWay) controller.abort(why);
  }
}

/** Waits for what others wait for, too, for as long as this caller wants to. */
export async function orAborted<T>(
  work: Promise<T>,
  operation: string,
  caller: AbortSignal | undefined,
): Promise<T> {
  if (!caller) return work;
  let giveUp = () => {};
  const aborted = new Promise<never>((_, reject) => {
    giveUp = () => {
      const cause = caller.reason;
      reject(new SandkeepError("the call was aborted", { kind: "aborted", operation, cause }));
    };
    if (caller.aborted) giveUp();
    caller.addEventListener("abort", giveUp, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    caller.removeEventListener("abort", giveUp);
  }
}

// Each call has an error of its own, which tells where it was made.
function repeated(why: SandkeepError, operation: string): SandkeepError {
  const { kind, status, hint, requestId, problem } = why;
  const facts = { kind, status, hint, requestId, problem, operation, cause: why };
  return new SandkeepError(why.message, facts);
}
