import { Worker } from "node:worker_threads";
import { SvcError } from "../../domain/errors.ts";
import { untilAborted } from "../../lib/pause.ts";
import type { Reranker } from "../../ports/models.ts";
import { cacheDir } from "../native/cache-dir.ts";
import { createWorkerCalls, type FailedCall } from "../native/worker-calls.ts";
import { createModelFiles, type ModelFilesOptions } from "./model-files.ts";
import { workerUrl } from "./worker-url.ts";

/** Settings of a reranker that runs on this machine. */
type LocalRerankerOptions = ModelFilesOptions & {
  /** Threads within one run of the model. Default 1. */
  readonly threads?: number | undefined;
  /** Length limit of a pair in tokens. Default 512; the model's own limit also applies. */
  readonly maxTokens?: number | undefined;
  /** Starts the model's thread. Default: the one shipped with the program. */
  readonly spawn?: (() => Worker) | undefined;
};

const DEFAULT_MAX_TOKENS = 512;
/** A host that does not answer must not delay every call again. */
const RETRY_PAUSE_MS = 30 * 1000;

/**
 * A cross-encoder with one output, in its own thread; the logistic function is applied to its output once. The first call looks
 * for the files and downloads them if needed; an aborted call does not end the download, so that a later one finds it done.
 * Closing ends downloads and the thread at once; later calls reject with engine_closed.
 * @throws SvcError invalid_config if `model` or `revision` cannot name a model
 */
export function createLocalReranker(options: LocalRerankerOptions): Reranker {
  const files = createModelFiles(options);
  const closed = new AbortController();
  const folder = createPreparation(() => files.folder(closed.signal));
  let thread: ModelThread | undefined;

  const scoreAll = async (
    question: string,
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly number[]> => {
    const path = await folder();
    const scores: number[] = [];
    for (const text of texts) {
      signal.throwIfAborted();
      thread ??= createModelThread({
        start: {
          cacheDir: cacheDir(),
          folder: path,
          threads: options.threads ?? 1,
          maxTokens: options.maxTokens ?? DEFAULT_MAX_TOKENS,
        },
        spawn: options.spawn,
      });
      scores.push(await thread.judge(question, text));
    }
    return scores;
  };

  return {
    score: (question, texts, signal) => {
      const stop = AbortSignal.any([signal, closed.signal]);
      return untilAborted(scoreAll(question, texts, stop), stop);
    },
    close: async () => {
      closed.abort(new SvcError("engine_closed", "the model was closed"));
      await thread?.close();
    },
  };
}

/** Finds the folder of a model once; after a failure, not again for a while. */
function createPreparation(prepare: () => Promise<string>): () => Promise<string> {
  let prepared: Promise<string> | undefined;
  let retryAt: number | undefined;
  return () => {
    if (prepared === undefined || (retryAt !== undefined && performance.now() >= retryAt)) {
      retryAt = undefined;
      prepared = prepare();
      prepared.catch(() => {
        retryAt = performance.now() + RETRY_PAUSE_MS;
      });
    }
    return prepared;
  };
}

/** How the thread is set up. */
type ModelThreadOptions = {
  readonly start: Omit<Start, "kind">;
  /** Starts the thread, default {@link startWorker}. For tests that end it from outside. */
  readonly spawn?: (() => Worker) | undefined;
};

type ModelThread = {
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
function createModelThread({ start, spawn = startWorker }: ModelThreadOptions): ModelThread {
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

/** The thread's setup, sent once, before anything else. */
export type Start = {
  readonly kind: "start";
  readonly cacheDir: string;
  /** Absolute path of the folder that holds the model's files. */
  readonly folder: string;
  readonly threads: number;
  readonly maxTokens: number;
};

export type Judge = {
  readonly kind: "judge";
  readonly id: number;
  readonly first: string;
  readonly second: string;
};

/** What the worker answers, once for each `judge`. `reason` never holds a text. */
export type FromWorker =
  | {
      readonly kind: "judged";
      readonly id: number;
      /** 0 to 1. */
      readonly relevance: number;
    }
  | { readonly kind: "failed"; readonly id: number; readonly reason: string };
