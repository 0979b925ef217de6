import { fileURLToPath } from "node:url";
import { startWorkerThread, TsRunner } from "synckit";
import type { ConfigInput } from "../../config/schema.ts";
import { SvcError } from "../../domain/errors.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { type Answer, type Call, type Step, toError } from "./messages.ts";

/** Members of inputs that cannot cross threads. A blocked caller could not use them anyway. */
type ThreadBound = "signal" | "onProgress";

type Crossing<T> = T extends object
  ? Extract<keyof T, ThreadBound> extends never
    ? T
    : Omit<T, ThreadBound>
  : T;

type CrossingAll<A extends readonly unknown[]> = { [I in keyof A]: Crossing<A[I]> };

/** A method that blocks until it can return its answer. */
type Blocking<M> = M extends (...args: infer A) => Promise<infer R>
  ? (...args: CrossingAll<A>) => R
  : M extends (...args: infer A) => AsyncIterable<infer T>
    ? (...args: CrossingAll<A>) => Iterable<T>
    : never;

/**
 * An open memory, for programs without promises: every method of `MemoryEngine`, with the same name, input and errors; each blocks the
 * calling thread until it has the answer. `using` closes it.
 */
export type MemoryClient = {
  readonly [M in keyof MemoryEngine]: Blocking<MemoryEngine[M]>;
} & Disposable;

/** Opens memories in a program without promises. */
export const MemoryClient = {
  /**
   * Opens a pack as `MemoryEngine.create` does, in its own thread. While a call runs, the calling thread does nothing else: no
   * timer, no request, no event. Close it when you are done, which ends the thread.
   * @param settings values that override the environment and `.env`, for example `{ pack_path: "./memory.pack" }`
   * @throws SvcError as `MemoryEngine.create`
   */
  create(settings: ConfigInput = {}): MemoryClient {
    const ask = startThread();
    const names = ask({ kind: "open", settings });
    return clientOf(ask, Array.isArray(names) ? names.map(String) : []);
  },
};

type WalkMethod = {
  [M in keyof MemoryEngine]: MemoryEngine[M] extends (...args: never) => AsyncIterable<unknown>
    ? M
    : never;
}[keyof MemoryEngine];

/** The methods that return an iterable, which cannot cross threads as a whole. */
const WALKS: Readonly<Record<WalkMethod, true>> = { iterNodes: true };

/** Asks the thread and waits. @throws Error that the engine raised; SvcError invalid_argument, internal */
type Ask = (call: Call) => unknown;

function clientOf(ask: Ask, names: readonly string[]): MemoryClient {
  let isClosed = false;
  const askOpen: Ask = (call) => {
    if (isClosed) throw new SvcError("engine_closed", "the client was closed; open it again");
    return ask(call);
  };
  const methods = names.map((method) => [
    method,
    Object.hasOwn(WALKS, method)
      ? (...args: readonly unknown[]) => walk(askOpen, method, args)
      : (...args: readonly unknown[]) => askOpen({ kind: "use", method, args }),
  ]);
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    ask({ kind: "close" });
  };
  const client: unknown = { ...Object.fromEntries(methods), close, [Symbol.dispose]: close };
  // SAFETY: `names` are those of all methods of the engine, from which the type is derived.
  return client as MemoryClient;
}

/** Starts a walk immediately, and fetches its values in steps. */
function walk(ask: Ask, method: string, args: readonly unknown[]): Generator<unknown> {
  // SAFETY: what the thread answers to this call.
  const number = ask({ kind: "iterate", method, args }) as number;
  return steps(ask, number);
}

function* steps(ask: Ask, walk: number): Generator<unknown> {
  let isUnderWay = true;
  try {
    while (isUnderWay) {
      isUnderWay = false;
      // SAFETY: what the thread answers to this call.
      const { values, isDone } = ask({ kind: "advance", walk }) as Step;
      isUnderWay = !isDone;
      yield* values;
    }
  } finally {
    if (isUnderWay) release(ask, walk);
  }
}

/** A walk of a client closed meanwhile no longer exists. */
function release(ask: Ask, walk: number): void {
  try {
    ask({ kind: "release", walk });
  } catch (error) {
    if (!(error instanceof SvcError && error.code === "engine_closed")) throw error;
  }
}

/** Starts a thread without an engine. It does not keep the process alive. */
function startThread(): Ask {
  // Each call starts its own thread; anything the package caches by path would be shared by all clients.
  const send = startWorkerThread<(call: Call) => Promise<Answer>>(
    fileURLToPath(new URL("./worker.ts", import.meta.url)),
    // All options are given, so that no environment variable decides.
    { tsRunner: TsRunner.Bun, execArgv: [], globalShims: false, timeout: Number.POSITIVE_INFINITY },
  );
  return (call) => {
    const answer = sendOver(send, call);
    if (answer.kind === "failure") throw toError(answer.failure);
    return answer.value;
  };
}

function sendOver(send: (call: Call) => Answer, call: Call): Answer {
  try {
    return send(call);
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "DataCloneError") {
      const field = "method" in call ? call.method : "settings";
      throw new SvcError(
        "invalid_argument",
        `${field}: holds something that cannot cross to the engine's thread, such as a function or an AbortSignal; pass plain data`,
        { field },
        { cause },
      );
    }
    if (cause instanceof RangeError) {
      const field = "method" in call ? call.method : "settings";
      const reason = "lists and objects are nested too deep to cross to the engine's thread";
      throw new SvcError("invalid_argument", `${field}: ${reason}`, { field }, { cause });
    }
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    const message = `the engine's thread failed (${reason}); open the memory again`;
    throw new SvcError("internal", message, {}, { cause });
  }
}
