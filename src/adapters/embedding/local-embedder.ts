import type { Worker } from "node:worker_threads";
import { SvcError } from "../../domain/errors.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import type { Embedder } from "../../ports/embedder.ts";
import { createLru } from "./lru.ts";
import { MODEL_NAME } from "./model-files.ts";
import { createModelThread } from "./model-thread.ts";

/** Settings of {@link createLocalEmbedder}. */
export type LocalEmbedderOptions = {
  /** Threads within one run of the model. Default 1. */
  readonly threads?: number | undefined;
  /** Length limit in tokens, 2 to 512. Default 256. Another value gives different vectors and so a different identity. */
  readonly maxTokens?: number | undefined;
  /** Folder that holds `BAAI/bge-small-en-v1.5/…`. Default: the files shipped with the program. */
  readonly modelRoot?: string | undefined;
  /** Starts the model's thread. Default: the one shipped with the program. */
  readonly spawn?: (() => Worker) | undefined;
};

const DIMENSION = 384;
// Enough for a turn; a text twice as long takes more than twice the time.
const DEFAULT_MAX_TOKENS = 256;
const CACHED_VECTORS = 512;
const QUERY_PREFIX = "Represent this sentence for searching relevant passages: ";
/** Int8 weights, `[CLS]` pooling, L2 norm. Raise the number when any of them changes. */
const RECIPE = "q8-cls-l2-1";

/**
 * An embedder that runs `BAAI/bge-small-en-v1.5` (384 dimensions, English) on this machine, without network.
 *
 * The model is loaded on the first call, in its own thread. Texts are embedded strictly one at a time; the latest 512
 * questions and 512 documents are cached, and concurrent calls with equal texts share one computation. Returned arrays
 * belong to the caller.
 */
export function createLocalEmbedder(options: LocalEmbedderOptions = {}): Embedder {
  const { threads = 1, maxTokens = DEFAULT_MAX_TOKENS, modelRoot, spawn } = options;
  const thread = createModelThread({ threads, maxTokens, modelRoot, spawn });
  let closing: Promise<void> | undefined;

  const remembering = (prefix: string): ((text: string) => Promise<Float32Array>) => {
    const known = createLru<Promise<Float32Array>>(CACHED_VECTORS);
    return async (text) => {
      if (closing !== undefined) throw new SvcError("engine_closed", "the embedder was closed");
      const key = sha256Hex(text);
      let vector = known.get(key);
      if (vector === undefined) {
        vector = thread.embed(prefix + text);
        known.set(key, vector);
        // Do not cache a failure.
        vector.catch(() => known.delete(key));
      }
      return (await vector).slice();
    };
  };

  return {
    identity: {
      model: MODEL_NAME,
      version: maxTokens === DEFAULT_MAX_TOKENS ? RECIPE : `${RECIPE}-t${maxTokens}`,
      dimension: DIMENSION,
    },
    embedDocument: remembering(""),
    embedQuery: remembering(QUERY_PREFIX),
    close: () => {
      closing ??= thread.close();
      return closing;
    },
  };
}
