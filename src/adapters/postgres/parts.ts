import type { EmbeddingIdentity } from "../../ports/models.ts";
import type { Clock } from "../../ports/system.ts";
import type { Worker } from "../sql/work.ts";
import type { Database } from "./connection/sql.ts";

export type PostgresStoreParts = {
  readonly database: Database;
  /** The model that the caller uses. */
  readonly embedding: EmbeddingIdentity;
  readonly clock: Clock;
  /** The clock for leases. Absent: the server's. */
  readonly leaseClock?: Clock | undefined;
};

/** Shared by all parts of a store. */
export type Parts = PostgresStoreParts & { readonly worker: Worker };
