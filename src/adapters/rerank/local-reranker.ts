import { Worker } from "node:worker_threads";
import { SvcError } from "../../domain/errors.ts";
import { untilAborted } from "../../lib/pause.ts";
import type { Reranker } from "../../ports/models.ts";
import { cacheDir } from "../native/cache-dir.ts";
import { createWorkerCalls, type FailedCall } from "../native/worker-calls.ts";
import { createModelFiles, type ModelFilesOptions } from "./model-files.ts";
import { workerUrl } from "./worker-url.ts";

type LocalRerankerOptions = ModelFilesOptions & {
  readonly threads?: number | undefined;
  /** Length limit of a pair in tokens. Default 512; the model's own limit also applies. */
  readonly maxTokens?: number | undefined;
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
  let path = "";
  const calls = createWorkerCalls<Omit<Judge, "id">, Exclude<FromWorker, FailedCall>>({
    spawn: options.spawn ?? startWorker,
    start: (): Start => ({
      kind: "start",
      cacheDir: cacheDir(),
      folder: path,
      threads: options.threads ?? 1,
      maxTokens: options.maxTokens ?? DEFAULT_MAX_TOKENS,
    }),
    // The original error is not passed on: it could contain a text.
    failed: (reason) => new SvcError("model_failed", `${reason}; the call may be repeated`),
  });

  const scoreAll = async (
    question: string,
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly number[]> => {
    path = await folder();
    const scores: number[] = [];
    for (const text of texts) {
      signal.throwIfAborted();
      const { relevance } = await calls.call({ kind: "judge", first: question, second: text });
      scores.push(relevance);
    }
    return scores;
  };

  return {
    score: (question, texts, signal) => {
      const stop = AbortSignal.any([signal, closed.signal]);
      return untilAborted(scoreAll(question, texts, stop), stop);
    },
    close: async () => {
      const error = new SvcError("engine_closed", "the model was closed");
      closed.abort(error);
      await calls.end(error);
    },
  };
}

/** Finds a model's folder once; after a failure, not again for a while. */
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

export function startWorker(): Worker {
  return new Worker(workerUrl());
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

/** The worker's answer to each `judge`. `reason` never contains a text. */
export type FromWorker =
  | {
      readonly kind: "judged";
      readonly id: number;
      /** 0 to 1. */
      readonly relevance: number;
    }
  | { readonly kind: "failed"; readonly id: number; readonly reason: string };
