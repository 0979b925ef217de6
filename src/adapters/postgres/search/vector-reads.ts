import type { CandidateFilter } from "../../../domain/candidate-filter.ts";
import type { EmbeddingIdentity } from "../../../ports/embedder.ts";
import type { Database } from "../connection/sql.ts";
import type { ResidentVectors } from "./resident-vectors.ts";

/** What searches of vectors share. */
export type VectorReads = {
  readonly database: Database;
  /** The model that the caller uses. */
  readonly embedding: EmbeddingIdentity;
  /** The vectors of owners with many memories. */
  readonly resident: ResidentVectors;
};

export type VectorSearch = {
  readonly vector: Float32Array;
  readonly filter: CandidateFilter;
  readonly k: number;
};
