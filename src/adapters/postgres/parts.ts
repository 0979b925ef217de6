import type { Clock } from "../../ports/clock.ts";
import type { EmbeddingIdentity } from "../../ports/embedder.ts";
import type { Database } from "./connection/sql.ts";
import type { Indexes } from "./graph/indexes.ts";

export type PostgresStoreParts = {
  readonly database: Database;
  /** The model that the caller uses. */
  readonly embedding: EmbeddingIdentity;
  readonly clock: Clock;
};

/** What all parts of a store share. */
export type Parts = PostgresStoreParts & {
  readonly indexes: Indexes;
  /** Names this store as the holder of work. */
  readonly holder: string;
};
