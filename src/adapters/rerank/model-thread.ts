import { Worker } from "node:worker_threads";
import { SvcError } from "../../domain/errors.ts";
import { createWorkerCalls, type FailedCall } from "../native/worker-calls.ts";
import type { FromWorker, Judge, Start } from "./messages.ts";
import { workerUrl } from "./worker-url.ts";

/** How the thread is set up. */
export type ModelThreadOptions = {
  readonly start: Omit<Start, "kind">;
  /** Starts the thread, default {@link startWorker}. For tests that end it from outside. */
  readonly spawn?: (() => Worker) | undefined;
};

/** A model in its own thread. */
export type ModelThread = {
  /** The relevance of the second text, 0 to 1. Starts the thread if there is none. @throws SvcError model_failed */
  judge(first: string, second: string): Promise<number>;
  /** Rejects pending calls with engine_closed, then ends the thread after the pair it is reading. */
  close(): Promise<void>;
};

/** Starts the models' worker. It keeps the process alive only while it has work. */
export function startWorker(): Worker {
  return new Worker(workerUrl());
}

/** A thread for a model that starts on the first call and again after a crash. */
export function createModelThread({ start, spawn = startWorker }: ModelThreadOptions): ModelThread {
  const calls = createWorkerCalls<Omit<Judge, "id">, Exclude<FromWorker, FailedCall>>({
    spawn,
    start: () => ({ kind: "start", ...start }) satisfies Start,
    // The thrown error is not passed on: it could hold a text.
    failed: (reason) => new SvcError("model_failed", `${reason}; the call may be repeated`),
  });
  return {
    judge: async (first, second) => (await calls.call({ kind: "judge", first, second })).relevance,
    close: () => calls.end(new SvcError("engine_closed", "the model was closed")),
  };
}
