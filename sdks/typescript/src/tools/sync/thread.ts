/** A thread that makes requests while this one stands still. */

import { SandkeepError } from "../../errors.js";

/** What the thread is asked for. */
export interface Errand {
  url: string;
  method: string;
  headers: Array<[string, string]>;
  body: string;
  /** For how many milliseconds it may take; 0 for ever. */
  timeout: number;
}

/** What became of it: an answer, or why there is none. */
export type Outcome =
  | { status: number; headers: Array<[string, string]>; body: ArrayBuffer }
  | { isLate: boolean; reason: string | undefined };

/** So much longer than the thread may take is waited for it: then something is wrong with it. */
const SPARE = 5000;
/** A thread that nobody needed for so long ends. */
const IDLE = 10_000;

/**
 * What runs in the thread. It is a text, so that no bundler has to know where a file of it lies. The
 * outcome is there before the caller is woken.
 */
const PROGRAM = `
const { parentPort, workerData: { port, flag } } = process.getBuiltinModule("node:worker_threads");
const codeOf = (error) => error?.code ?? (error?.cause === undefined ? error?.message : codeOf(error.cause));
parentPort.on("message", async ({ url, timeout, ...init }) => {
  let outcome;
  try {
    const signal = timeout > 0 ? AbortSignal.timeout(timeout) : undefined;
    const { status, headers, ...rest } = await fetch(url, { ...init, signal }).then(async (answer) => ({
      status: answer.status, headers: [...answer.headers], body: await answer.arrayBuffer(),
    }));
    outcome = { status, headers, ...rest };
  } catch (error) {
    outcome = { isLate: error?.name === "TimeoutError", reason: codeOf(error) };
  }
  port.postMessage(outcome, outcome.body === undefined ? [] : [outcome.body]);
  Atomics.store(flag, 0, 1);
  Atomics.notify(flag, 0);
});
`;

/** What is needed of Node. */
interface Threads {
  Worker: new (
    program: string,
    options: { eval: true; workerData: unknown; transferList: unknown[] },
  ) => { postMessage(message: unknown): void; unref(): void; terminate(): unknown };
  MessageChannel: new () => { port1: Port; port2: Port };
  receiveMessageOnPort(port: Port): { message: unknown } | undefined;
}

interface Port {
  close(): void;
}

interface Node {
  process?: { getBuiltinModule?(name: string): unknown; versions?: Record<string, string> };
  Deno?: unknown;
}

/** A thread, and how its outcomes come. */
class Thread {
  readonly #threads: Threads;
  readonly #worker: InstanceType<Threads["Worker"]>;
  readonly #port: Port;
  readonly #flag = new Int32Array(new SharedArrayBuffer(4));

  constructor(threads: Threads) {
    this.#threads = threads;
    const { port1, port2 } = new threads.MessageChannel();
    this.#port = port1;
    const workerData = { port: port2, flag: this.#flag };
    this.#worker = new threads.Worker(PROGRAM, { eval: true, workerData, transferList: [port2] });
    // A program ends when it has nothing more to do, whatever this thread waits for.
    this.#worker.unref();
  }

  /** Stands still until there is an outcome; none if the thread does not come to its end. */
  run(errand: Errand): Outcome | undefined {
    Atomics.store(this.#flag, 0, 0);
    this.#worker.postMessage(errand);
    const most = errand.timeout > 0 ? errand.timeout + SPARE : undefined;
    Atomics.wait(this.#flag, 0, 0, most);
    return this.#threads.receiveMessageOnPort(this.#port)?.message as Outcome | undefined;
  }

  end(): void {
    this.#port.close();
    this.#worker.terminate();
  }
}

let thread: Thread | undefined;
let idle: ReturnType<typeof setTimeout> | undefined;

/** Has a request made, and stands still meanwhile. */
export function run(errand: Errand): Outcome {
  clearTimeout(idle);
  thread ??= new Thread(threadsOfNode());
  const outcome = thread.run(errand);
  if (outcome === undefined) letGo();
  // Only in Node is anybody here, where timers can be told not to hold a program.
  else idle = (setTimeout(letGo, IDLE) as unknown as { unref(): typeof idle }).unref();
  return outcome ?? { isLate: true, reason: undefined };
}

function letGo(): void {
  thread?.end();
  thread = undefined;
}

function threadsOfNode(): Threads {
  const { process, Deno } = globalThis as Node;
  const isNode = process?.versions?.node !== undefined && process.versions.bun === undefined;
  const threads = process?.getBuiltinModule?.("node:worker_threads");
  if (isNode && Deno === undefined && threads !== undefined) return threads as Threads;
  const message = "only Node can stand still until a call is done, from 20.16 on";
  throw new SandkeepError(message, {
    kind: "unsupported",
    hint: "call `execute`, and wait for it",
  });
}
