import type { Worker } from "node:worker_threads";
import { SvcError } from "../../domain/errors.ts";
import type { Reranker } from "../../ports/models.ts";
import { cacheDir } from "../native/cache-dir.ts";
import { createModelFiles, type ModelFilesOptions } from "./model-files.ts";
import { createModelThread, type ModelThread } from "./model-thread.ts";

/** Settings of a reranker that runs on this machine. */
export type LocalRerankerOptions = ModelFilesOptions & {
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

/** The value of `work`, or the signal's reason as soon as it is aborted; `work` itself continues unobserved. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
