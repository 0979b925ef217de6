import { createLocalEmbedder } from "../adapters/embedding/local-embedder.ts";
import type { Config } from "../config/schema.ts";
import type { Embedder } from "../ports/embedder.ts";

/** The configured embedder. Its model is loaded by the first call that needs it; the caller closes it. */
export function createConfiguredEmbedder({ embedding }: Config): Embedder {
  return createLocalEmbedder({ threads: embedding.threads, maxTokens: embedding.max_tokens });
}
