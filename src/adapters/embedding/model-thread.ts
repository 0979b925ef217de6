import { Worker } from "node:worker_threads";
import type { EmbeddingModel } from "../../domain/embedding-models.ts";
import { SvcError } from "../../domain/errors.ts";
import { cacheDir } from "../native/cache-dir.ts";
import { createWorkerCalls, type FailedCall } from "../native/worker-calls.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import { workerUrl } from "./worker-url.ts";

/** How the thread is set up; see `LocalEmbedderOptions`. */
export type ModelThreadOptions = {
  readonly model: EmbeddingModel;
  readonly threads: number;
  readonly maxTokens: number;
  readonly modelRoot?: string | undefined;
  /** Starts the thread, default {@link startWorker}. For tests that end it from outside. */
  readonly spawn?: (() => Worker) | undefined;
};

/** The model in its own thread. */
export type ModelThread = {
  /** The vector of one text. Starts the thread if there is none. @throws SvcError `embedding_failed`. */
  embed(text: string): Promise<Float32Array>;
  /** Waits for pending calls, then ends the thread. */
  close(): Promise<void>;
};

type Call = Omit<Extract<ToWorker, { kind: "embed" }>, "id">;
type Answer = Exclude<FromWorker, FailedCall>;

/** Starts the model's worker. It keeps the process alive only while it has work. */
export function startWorker(): Worker {
  return new Worker(workerUrl());
}

/** A thread for the model that starts on the first call and again after a crash. */
export function createModelThread(options: ModelThreadOptions): ModelThread {
  const { model, threads, maxTokens, modelRoot, spawn = startWorker } = options;
  const settled = new Set<Promise<unknown>>();
  const start = (): ToWorker => ({
    kind: "start",
    cacheDir: cacheDir(),
    model,
    threads,
    maxTokens,
    modelRoot,
  });
  const calls = createWorkerCalls<Call, Answer>({ spawn, start, failed });
  return {
    embed: (text) => {
      const answer = calls.call({ kind: "embed", text });
      const done = answer.then(noop, noop).finally(() => settled.delete(done));
      settled.add(done);
      return answer.then(({ vector }) => vector);
    },
    close: async () => {
      await Promise.all(settled);
      await calls.end(failed("the model was closed"));
    },
  };
}

function failed(reason: string, cause?: unknown): SvcError {
  return new SvcError("embedding_failed", `${reason}; the call may be repeated`, {}, { cause });
}

function noop(): void {}
