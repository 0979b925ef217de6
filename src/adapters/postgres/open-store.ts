import { databasePlace } from "../../domain/database-url.ts";
import { ALL_OWNERS } from "../../domain/owner.ts";
import type { Clock } from "../../ports/clock.ts";
import type { EmbeddingIdentity } from "../../ports/embedder.ts";
import type { Store } from "../../ports/store/store.ts";
import { type ConnectionOptions, openConnection } from "./connection/open-connection.ts";
import { createPostgresStore } from "./postgres-store.ts";
import { begunModel } from "./rebuild/rebuild-state.ts";
import { requireManifest } from "./schema/manifest.ts";
import { migrate } from "./schema/migrate.ts";

export type PostgresStoreOptions = ConnectionOptions & {
  /** False: a database without tables is an error, and none are made. */
  readonly createIfMissing: boolean;
  /** Identity of the configured model; written to the manifest of a new database. */
  readonly embedding: EmbeddingIdentity;
  /** The model to use, given that of the database. Default: `embedding`. */
  readonly modelFor?:
    | ((stored: EmbeddingIdentity, begun: EmbeddingIdentity | undefined) => EmbeddingIdentity)
    | undefined;
  readonly softwareVersion: string;
  readonly scoringVersion: string;
  readonly clock: Clock;
  /** By which leases are given and end. Default: the server's, which is the same for all who use it. */
  readonly leaseClock?: Clock | undefined;
};

/**
 * Opens a database, and makes its tables when it has none.
 * @throws SvcError storage_failed, storage_busy, not_found, pack_too_new, unsupported
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { clock, leaseClock, modelFor, url } = options;
  const database = openConnection(options);
  try {
    await migrate(database, databasePlace(url), { ...options, now: clock.now() });
    const [stored, begun] = await database.read(
      ALL_OWNERS,
      async (sql) => [await requireManifest(sql), await begunModel(sql)] as const,
    );
    const embedding = modelFor?.(stored.embedding, begun) ?? options.embedding;
    return createPostgresStore({ database, clock, leaseClock, embedding });
  } catch (error) {
    await database.close();
    throw error;
  }
}
