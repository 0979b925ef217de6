import { Worker } from "node:worker_threads";
import { SvcError } from "../../domain/errors.ts";
import { cacheDir } from "../native/cache-dir.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import { workerUrl } from "./worker-url.ts";

/** How the thread is set up; see `LocalEmbedderOptions`. */
export type ModelThreadOptions = {
  readonly threads: number;
  readonly maxTokens: number;
  readonly modelRoot?: string | undefined;
  /** Starts the thread, default {@link startWorker}. For tests that end it from outside. */
  readonly spawn?: (() => Worker) | undefined;
};

/** The model in a thread of its own. */
export type ModelThread = {
  /** The vector of one text. Starts the thread when there is none. @throws SvcError `embedding_failed`. */
  embed(text: string): Promise<Float32Array>;
  /** Waits for what is pending, then ends the thread. */
  close(): Promise<void>;
};

type Pending = {
  readonly resolve: (vector: Float32Array) => void;
  readonly reject: (error: SvcError) => void;
};

/** One life of a worker; after a crash the next call begins another. */
type Life = {
  readonly worker: Worker;
  readonly pending: Map<number, Pending>;
};

/** Starts the model's worker. It keeps the process alive only while it has work. */
export function startWorker(): Worker {
  return new Worker(workerUrl());
}

/** A thread for the model that starts on the first call and again after a crash. */
export function createModelThread(options: ModelThreadOptions): ModelThread {
  let life: Life | undefined;
  let nextId = 0;
  const settled = new Set<Promise<unknown>>();

  const begin = (): Life => {
    const worker = (options.spawn ?? startWorker)();
    const born: Life = { worker, pending: new Map() };
    const end = (reason: string, cause?: unknown): void => {
      if (life === born) life = undefined;
      for (const waiting of born.pending.values()) waiting.reject(failed(reason, cause));
      born.pending.clear();
    };
    worker.on("message", (answer: FromWorker) => receive(born, answer));
    worker.on("error", (cause) => end("the model's thread crashed", cause));
    worker.on("exit", () => end("the model's thread ended unexpectedly"));
    const { threads, maxTokens, modelRoot } = options;
    post(worker, { kind: "start", cacheDir: cacheDir(), threads, maxTokens, modelRoot });
    return born;
  };

  const current = (): Life => {
    try {
      life ??= begin();
      return life;
    } catch (cause) {
      throw failed("the model's thread cannot be started", cause);
    }
  };

  const embed = async (text: string): Promise<Float32Array> => {
    const { worker, pending } = current();
    const id = nextId++;
    const answer = new Promise<Float32Array>((resolve, reject) => {
      pending.set(id, { resolve, reject });
    });
    worker.ref();
    post(worker, { kind: "embed", id, text });
    return answer;
  };

  return {
    embed: (text) => {
      const answer = embed(text);
      const done = answer.then(noop, noop).finally(() => settled.delete(done));
      settled.add(done);
      return answer;
    },
    close: async () => {
      await Promise.all(settled);
      const ending = life?.worker;
      life = undefined;
      await ending?.terminate();
    },
  };
}

function receive(life: Life, answer: FromWorker): void {
  const waiting = life.pending.get(answer.id);
  if (waiting === undefined) return;
  life.pending.delete(answer.id);
  if (life.pending.size === 0) life.worker.unref();
  if (answer.kind === "vector") waiting.resolve(answer.vector);
  else waiting.reject(failed(answer.reason));
}

function post(worker: Worker, message: ToWorker): void {
  worker.postMessage(message);
}

function failed(reason: string, cause?: unknown): SvcError {
  return new SvcError("embedding_failed", `${reason}; the call may be repeated`, {}, { cause });
}

function noop(): void {}
