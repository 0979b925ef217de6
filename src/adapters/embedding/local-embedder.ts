import type { Worker } from "node:worker_threads";
import { DEFAULT_MODEL, type EmbeddingModel } from "../../domain/embedding-models.ts";
import { SvcError } from "../../domain/errors.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import type { Embedder, EmbeddingIdentity } from "../../ports/embedder.ts";
import { createLru } from "./lru.ts";
import { createModelThread } from "./model-thread.ts";

/** Settings of {@link createLocalEmbedder}. */
export type LocalEmbedderOptions = {
  /** Default: the first of the table. */
  readonly model?: EmbeddingModel | undefined;
  /** Threads within one run of the model. Default 1. */
  readonly threads?: number | undefined;
  /** Length limit in tokens, 2 to 512. Default 256. Another value gives different vectors and so a different identity. */
  readonly maxTokens?: number | undefined;
  /** Folder that holds the model below its name. Default: the files shipped with the program. */
  readonly modelRoot?: string | undefined;
  /** Starts the model's thread. Default: the one shipped with the program. */
  readonly spawn?: (() => Worker) | undefined;
};

// Enough for a turn; a text twice as long takes more than twice the time.
const DEFAULT_MAX_TOKENS = 256;
const CACHED_VECTORS = 512;

/** Identifies the vectors of a model with this length limit. */
export function identityOf(
  model: EmbeddingModel,
  maxTokens: number = DEFAULT_MAX_TOKENS,
): EmbeddingIdentity {
  const { name, recipe, dimension } = model;
  const version = maxTokens === DEFAULT_MAX_TOKENS ? recipe : `${recipe}-t${maxTokens}`;
  return { model: name, version, dimension };
}

/**
 * An embedder that runs a model of the table on this machine, without network.
 *
 * The model is loaded on the first call, in its own thread. Texts are embedded strictly one at a time; the latest 512
 * questions and 512 documents are cached, and concurrent calls with equal texts share one computation. Returned arrays
 * belong to the caller.
 */
export function createLocalEmbedder(options: LocalEmbedderOptions = {}): Embedder {
  const {
    model = DEFAULT_MODEL,
    threads = 1,
    maxTokens = DEFAULT_MAX_TOKENS,
    modelRoot,
    spawn,
  } = options;
  const thread = createModelThread({ model, threads, maxTokens, modelRoot, spawn });
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
    identity: identityOf(model, maxTokens),
    embedDocument: remembering(model.documentPrefix),
    embedQuery: remembering(model.questionPrefix),
    close: () => {
      closing ??= thread.close();
      return closing;
    },
  };
}
