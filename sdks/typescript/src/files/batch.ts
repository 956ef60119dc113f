/** Many changes as one: all of them happen, or none. */

import { SandkeepError } from "../errors.js";
import type { BatchStep, BatchWriteMode, Stat, Target, Versions } from "../generated/schemas.js";
import type { CallOptions } from "../transport/transport.js";
import { fromWire, toWire } from "../wire.js";
import { base64 } from "./base64.js";
import type { Place } from "./place.js";
import { timestamp } from "./times.js";

/** What a step expects of the file that it changes. */
export interface StepConditions {
  ifMatch?: Versions;
  ifNoneMatch?: Versions;
}

/** How a step writes. */
export interface StepWriteOptions extends StepConditions {
  /** What is done with what is there [default: replace]. */
  mode?: BatchWriteMode;
  /** Where the content of a `part` goes. */
  offset?: number;
  /** How long the file must be after a `part`. */
  total?: number;
  /** `false` to write only where the directory is there already. */
  parents?: boolean;
}

/**
 * Steps that are taken together. Nobody sees a state between.
 *
 * ```ts
 * await files.batch().write("a.txt", "A").move("b.txt", "c.txt").delete("old").send();
 * ```
 */
export class Batch {
  readonly #place: Place;
  readonly #steps: BatchStep[] = [];

  /** @internal */
  constructor(place: Place) {
    this.#place = place;
  }

  /** How many steps there are. The server takes 10,000 at most. */
  get length(): number {
    return this.#steps.length;
  }

  write(path: string, content: string | Uint8Array, options: StepWriteOptions = {}): this {
    if (typeof content !== "string" && !(content instanceof Uint8Array)) {
      const message = `a step writes text or bytes, not ${content}`;
      const facts = { kind: "invalid_argument", operation: "files.batch", path };
      throw new SandkeepError(message, facts);
    }
    const body = typeof content === "string" ? { text: content } : { base64: base64(content) };
    return this.step({ op: "write", path, ...body, ...options });
  }

  mkdir(path: string, options: { parents?: boolean } = {}): this {
    return this.step({ op: "mkdir", path, ...options });
  }

  link(path: string, target: string): this {
    return this.step({ op: "link", path, target });
  }

  /** Removes what must be there: a file, a link itself, or a directory with everything in it. */
  delete(path: string, options: StepConditions & { recursive?: boolean } = {}): this {
    return this.step({ op: "remove", path, ...options });
  }

  move(from: string, to: string, options: { target?: Target } = {}): this {
    return this.step({ op: "move", from, to, ...options });
  }

  copy(from: string, to: string, options: { target?: Target } = {}): this {
    return this.step({ op: "copy", from, to, ...options });
  }

  chmod(path: string, change: { mode?: string; modified?: Date | string }): this {
    const { mode, modified } = change;
    return this.step({ op: "chmod", path, mode, modified: timestamp(modified) });
  }

  /** Changes nothing; all fails when what is there is not as expected. */
  check(path: string, conditions: StepConditions): this {
    return this.step({ op: "check", path, ...conditions });
  }

  /** A step as the contract writes it. */
  step(step: BatchStep): this {
    this.#steps.push(step);
    return this;
  }

  /** Takes all steps. Answers what is at the path of each afterwards, or null. */
  async send(options: CallOptions = {}): Promise<Array<Stat | null>> {
    const { signal, timeout } = options;
    const answer = await this.#place.transport.json<unknown>({
      operation: "files.batch",
      method: "POST",
      path: `${this.#place.address}/fs-batch`,
      json: toWire(this.#steps),
      repeat: "never",
      ...{ signal, timeout },
    });
    return fromWire(answer);
  }
}
