import { Worker } from "node:worker_threads";
import { SvcError } from "../../domain/errors.ts";
import type { FromWorker, Start, ToWorker } from "./messages.ts";
import { workerUrl } from "./worker-url.ts";

/** How the thread is set up. */
export type ModelThreadOptions = {
  readonly start: Omit<Start, "kind">;
  /** Starts the thread, default {@link startWorker}. For tests that end it from outside. */
  readonly spawn?: (() => Worker) | undefined;
};

/** What a model said of one pair. */
export type Judgement = { readonly values: readonly number[]; readonly revision: string };

/** A model in a thread of its own. */
export type ModelThread = {
  /** Starts the thread when there is none. @throws SvcError model_failed */
  judge(first: string, second: string): Promise<Judgement>;
  /** Ends the thread at once; what is pending rejects with engine_closed. */
  close(): Promise<void>;
};

type Pending = {
  readonly resolve: (judgement: Judgement) => void;
  readonly reject: (error: SvcError) => void;
};

/** One life of a worker; after a crash the next call begins another. */
type Life = {
  readonly worker: Worker;
  readonly pending: Map<number, Pending>;
};

/** Starts the models' worker. It keeps the process alive only while it has work. */
export function startWorker(): Worker {
  return new Worker(workerUrl());
}

/** A thread for a model that starts on the first call and again after a crash. */
export function createModelThread({ start, spawn = startWorker }: ModelThreadOptions): ModelThread {
  let life: Life | undefined;
  let nextId = 0;

  const begin = (): Life => {
    const worker = spawn();
    const born: Life = { worker, pending: new Map() };
    const end = (reason: string): void => {
      if (life === born) life = undefined;
      rejectAll(born, failed(reason));
    };
    worker.on("message", (answer: FromWorker) => receive(born, answer));
    // The thrown error is not passed on: it could hold a text.
    worker.on("error", () => end("the model's thread crashed"));
    worker.on("exit", () => end("the model's thread ended unexpectedly"));
    post(worker, { kind: "start", ...start });
    return born;
  };

  return {
    judge: async (first, second) => {
      try {
        life ??= begin();
      } catch {
        throw failed("the model's thread cannot be started");
      }
      const { worker, pending } = life;
      const id = nextId++;
      const answer = new Promise<Judgement>((resolve, reject) => {
        pending.set(id, { resolve, reject });
      });
      worker.ref();
      post(worker, { kind: "judge", id, first, second });
      return answer;
    },
    close: async () => {
      const ending = life;
      life = undefined;
      if (ending === undefined) return;
      rejectAll(ending, new SvcError("engine_closed", "the model was closed"));
      await ending.worker.terminate();
    },
  };
}

function receive(life: Life, answer: FromWorker): void {
  const waiting = life.pending.get(answer.id);
  if (waiting === undefined) return;
  life.pending.delete(answer.id);
  if (life.pending.size === 0) life.worker.unref();
  if (answer.kind === "judged") waiting.resolve(answer);
  else waiting.reject(failed(answer.reason));
}

function rejectAll({ pending }: Life, error: SvcError): void {
  for (const waiting of pending.values()) waiting.reject(error);
  pending.clear();
}

function post(worker: Worker, message: ToWorker): void {
  worker.postMessage(message);
}

function failed(reason: string): SvcError {
  return new SvcError("model_failed", `${reason}; the call may be repeated`);
}
