import type { EmbeddingIdentity } from "../ports/embedder.ts";
import { VERSION } from "./version.ts";

/** The running code as recorded in a receipt: names and versions, no secrets. */
export function featuresOf(embedding: EmbeddingIdentity): Readonly<Record<string, string>> {
  return {
    svc: VERSION,
    runtime: `bun ${Bun.version}`,
    embedding_model: embedding.model,
    embedding_version: embedding.version,
    embedding_dimension: String(embedding.dimension),
    vector_search: "exact cosine",
    lexical_search: "bm25, fts5",
  };
}
