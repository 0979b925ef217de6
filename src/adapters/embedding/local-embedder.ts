import type { Worker } from "node:worker_threads";
import { DEFAULT_MODEL, type EmbeddingModel } from "../../domain/embedding-models.ts";
import type { Embedder, EmbeddingIdentity } from "../../ports/models.ts";
import { createModelThread } from "./model-thread.ts";
import { noUse, remembering } from "./remember.ts";

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

/** Identifies the vectors of a model with this length limit. */
export function identityOf(
  model: Pick<EmbeddingModel, "name" | "recipe" | "dimension">,
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
 * questions and 512 documents are cached, each for its owner alone, and concurrent calls of one owner with equal texts share one
 * computation. Returned arrays belong to the caller.
 */
export function createLocalEmbedder(options: LocalEmbedderOptions = {}): Embedder {
  const {
    model = DEFAULT_MODEL,
    threads = 1,
    maxTokens = DEFAULT_MAX_TOKENS,
    modelRoot,
    spawn,
  } = options;
  const tokens = Math.min(maxTokens, model.other?.maxTokens ?? maxTokens);
  const thread = createModelThread({ model, threads, modelRoot, spawn, maxTokens: tokens });
  let closing: Promise<void> | undefined;
  const isClosed = () => closing !== undefined;
  const use = noUse();
  const after = (prefix: string) =>
    remembering((text) => thread.embed(prefix + text), isClosed, use);
  const documents = after(model.documentPrefix);
  const questions = after(model.questionPrefix);

  return {
    identity: identityOf(model, maxTokens),
    maxTokens: tokens,
    embedDocument: documents.embed,
    embedQuery: questions.embed,
    forget: (of) => {
      documents.forget(of);
      questions.forget(of);
    },
    use: () => ({ ...use }),
    close: () => {
      closing ??= thread.close();
      return closing;
    },
  };
}
