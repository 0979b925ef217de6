import type { Worker } from "node:worker_threads";

/** A worker's answer to a failed call; `reason` may be disclosed. */
export type FailedCall = {
  readonly kind: "failed";
  readonly id: number;
  readonly reason: string;
};

/** Tells a worker to take no more calls; it answers once it runs none. */
export type EndMessage = { readonly kind: "end" };
export type IdleMessage = { readonly kind: "idle" };

/** Milliseconds after which a worker that does not become idle is terminated anyway. */
const END_MS = 30_000;

export type WorkerCallsOptions = {
  /** Starts a worker. */
  readonly spawn: () => Worker;
  /** The first message to each worker. */
  readonly start: () => object;
  /** The error of a failed call. `cause` may hold texts of the call. */
  readonly failed: (reason: string, cause?: unknown) => Error;
};

/** Calls to a worker thread, each with a number that identifies its answer. */
export type WorkerCalls<Call extends object, Answer> = {
  /** Starts the worker if there is none. @throws the error that `failed` makes */
  call(call: Call): Promise<Answer>;
  /**
   * Rejects pending calls with `error`, then ends the worker after its running call. The next call starts another worker.
   */
  end(error: Error): Promise<void>;
};

type Pending<Answer> = {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
};

/** One life of a worker; after a crash the next call starts another. */
type Life<Answer> = {
  readonly worker: Worker;
  readonly pending: Map<number, Pending<Answer>>;
};

/** A worker that starts on the first call and again after a crash. It keeps the process alive only while it has work. */
export function createWorkerCalls<Call extends object, Answer extends { readonly id: number }>(
  options: WorkerCallsOptions,
): WorkerCalls<Call, Answer> {
  let life: Life<Answer> | undefined;
  let nextId = 0;

  const begin = (): Life<Answer> => {
    const worker = options.spawn();
    const born: Life<Answer> = { worker, pending: new Map() };
    const end = (reason: string, cause?: unknown): void => {
      if (life === born) life = undefined;
      rejectAll(born, () => options.failed(reason, cause));
    };
    worker.on("message", (answer: Answer | FailedCall | IdleMessage) => {
      if (!("id" in answer)) return;
      const waiting = born.pending.get(answer.id);
      if (waiting === undefined) return;
      born.pending.delete(answer.id);
      if (born.pending.size === 0) worker.unref();
      if (isFailed(answer)) waiting.reject(options.failed(answer.reason));
      else waiting.resolve(answer);
    });
    worker.on("error", (cause) => end("the model's thread crashed", cause));
    worker.on("exit", () => end("the model's thread ended unexpectedly"));
    worker.postMessage(options.start());
    return born;
  };

  return {
    call: async (call) => {
      try {
        life ??= begin();
      } catch (cause) {
        throw options.failed("the model's thread cannot be started", cause);
      }
      const { worker, pending } = life;
      const id = nextId++;
      const answer = new Promise<Answer>((resolve, reject) => {
        pending.set(id, { resolve, reject });
      });
      worker.ref();
      worker.postMessage({ ...call, id });
      return answer;
    },
    end: async (error) => {
      const ending = life;
      life = undefined;
      if (ending === undefined) return;
      rejectAll(ending, () => error);
      await idle(ending.worker);
      await ending.worker.terminate();
    },
  };
}

/** Resolves when a worker is idle: terminating one inside native code would take the whole process with it. */
async function idle(worker: Worker): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  worker.on("message", (message: { readonly kind?: string }) => {
    if (message.kind === "idle") resolve();
  });
  worker.once("exit", () => resolve());
  const timer = setTimeout(resolve, END_MS);
  worker.ref();
  worker.postMessage({ kind: "end" } satisfies EndMessage);
  await promise;
  clearTimeout(timer);
}

function isFailed(answer: { readonly id: number }): answer is FailedCall {
  return "kind" in answer && answer.kind === "failed";
}

function rejectAll<Answer>({ pending }: Life<Answer>, errorOf: () => Error): void {
  for (const waiting of pending.values()) waiting.reject(errorOf());
  pending.clear();
}
