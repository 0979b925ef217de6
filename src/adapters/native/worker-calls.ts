import { parentPort, type Worker } from "node:worker_threads";
import { useCacheDir } from "./cache-dir.ts";

/** A worker's answer to a failed call; `reason` is safe to disclose. */
export type FailedCall = { readonly kind: "failed"; readonly id: number; readonly reason: string };

/** Tells a worker to accept no more calls; it answers once it is idle. */
type EndMessage = { readonly kind: "end" };
type IdleMessage = { readonly kind: "idle" };

/** Milliseconds after which a worker that does not become idle is terminated anyway. */
const END_MS = 30_000;

type WorkerCallsOptions = {
  readonly spawn: () => Worker;
  /** The first message to each worker. */
  readonly start: () => object;
  /** The error of a failed call. `cause` may hold texts of the call. */
  readonly failed: (reason: string, cause?: unknown) => Error;
};

/** Calls to a worker thread, each with a number that identifies its answer. */
type WorkerCalls<Call extends object, Answer> = {
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

/** One run of a worker; after a crash the next call starts another. */
type Life<Answer> = { readonly worker: Worker; readonly pending: Map<number, Pending<Answer>> };

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

/** Resolves when a worker is idle: terminating one inside native code would crash the process. */
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

type StartMessage = { readonly kind: "start"; readonly cacheDir: string };

type WorkerAnswers<Start, Call, Model, Answer> = {
  /** Called by the first call, and again by the next one if it rejected. */
  readonly load: (start: Start) => Promise<Model>;
  readonly answer: (model: Model, call: Call) => Promise<Answer>;
  /** What a call is about, in words: "a text". */
  readonly about: string;
};

/** The worker's side of `createWorkerCalls`: answers calls one at a time, in order, so that no answer depends on its neighbours. */
export function answerCalls<
  Start extends StartMessage,
  Call extends { readonly kind: string; readonly id: number },
  Model extends { close(): Promise<void> },
  Answer,
>({ load, answer, about }: WorkerAnswers<Start, Call, Model, Answer>): void {
  const queue: Call[] = [];
  let start: Start | undefined;
  let model: Model | undefined;
  let isRunning = false;
  let isEnding = false;

  const loadOnce = async (): Promise<Model> => {
    if (start === undefined) throw new Error("the worker was not started");
    useCacheDir(start.cacheDir);
    return await load(start);
  };

  const reply = async (call: Call): Promise<Answer | FailedCall> => {
    try {
      model ??= await loadOnce();
    } catch (error) {
      // No text has been read yet, so the whole message may be disclosed.
      const message = error instanceof Error ? error.message : String(error);
      return { kind: "failed", id: call.id, reason: `the model cannot be loaded: ${message}` };
    }
    try {
      return await answer(model, call);
    } catch (error) {
      const name = error instanceof Error ? error.name : typeof error;
      return { kind: "failed", id: call.id, reason: `the model failed on ${about} (${name})` };
    }
  };

  const run = async (): Promise<void> => {
    isRunning = true;
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      parentPort?.postMessage(await reply(next));
    }
    isRunning = false;
    if (isEnding) await end();
  };

  const end = async (): Promise<void> => {
    await model?.close();
    model = undefined;
    parentPort?.postMessage({ kind: "idle" } satisfies IdleMessage);
  };

  parentPort?.on("message", (message: Start | Call | EndMessage) => {
    if (isOfKind<Start>(message, "start")) {
      start = message;
      return;
    }
    if (isOfKind<EndMessage>(message, "end")) {
      isEnding = true;
      queue.length = 0;
      if (!isRunning) void end();
      return;
    }
    queue.push(message);
    if (!isRunning) void run();
  });
}

function isOfKind<Message extends { readonly kind: string }>(
  message: { readonly kind: string },
  kind: Message["kind"],
): message is Message {
  return message.kind === kind;
}
