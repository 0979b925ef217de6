import { databasePlace } from "../../domain/addresses.ts";
import { SvcError } from "../../domain/errors.ts";
import { ALL_OWNERS, type NamespaceIdentity, workspaceDamaged } from "../../domain/owner.ts";
import type { EmbeddingIdentity } from "../../ports/models.ts";
import type { Store } from "../../ports/store/store.ts";
import type { Clock } from "../../ports/system.ts";
import { begunModel } from "../sql/rebuild.ts";
import { requireManifest } from "../sql/settings.ts";
import { openConnection } from "./connection/open-connection.ts";
import { type FittingOptions, probeServer } from "./connection/probe-server.ts";
import { hasWholeWall, setWall } from "./connection/row-security.ts";
import { run } from "./connection/run.ts";
import type { Database } from "./connection/sql.ts";
import { createPostgresStore } from "./postgres-store.ts";
import { migrate, RESTORE, requireNamespace } from "./schema/migrate.ts";
import { requireWhole } from "./transfer/transfer-state.ts";

export type PostgresStoreOptions = FittingOptions & {
  /** Whether row-level security is required. Default: as it is. */
  readonly rowSecurity?: boolean | undefined;
  /** Partitions of each new table; see `SetUp`. */
  readonly partitions?: number | undefined;
  /** False: a database without tables is an error, and none are created. */
  readonly createIfMissing: boolean;
  /** The namespace of a workspace; its schema is the first of the search path. */
  readonly namespace?: NamespaceIdentity | undefined;
  /** Identity of the configured model; written to the manifest of a new database. */
  readonly embedding: EmbeddingIdentity;
  /** The model to use, given that of the database. Default: `embedding`. */
  readonly modelFor?:
    | ((stored: EmbeddingIdentity, begun: EmbeddingIdentity | undefined) => EmbeddingIdentity)
    | undefined;
  readonly softwareVersion: string;
  readonly scoringVersion: string;
  readonly clock: Clock;
  /** The clock for leases. Default: the server's, shared by all its users. */
  readonly leaseClock?: Clock | undefined;
};

/**
 * Opens a database, creating its tables if it has none.
 * @throws SvcError storage_failed, storage_busy, not_found, pack_too_new, unsupported
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { clock, leaseClock, modelFor, namespace } = options;
  const database = await openSetUp(options);
  try {
    if (namespace !== undefined) {
      const place = placeOf(options);
      await database.read(ALL_OWNERS, (sql) => requireNamespace(sql, place, namespace));
    }
    const [stored, begun] = await database.read(
      ALL_OWNERS,
      async (sql) => [await run(sql, requireManifest()), await run(sql, begunModel())] as const,
    );
    const embedding = modelFor?.(stored.embedding, begun) ?? options.embedding;
    return createPostgresStore({ database, clock, leaseClock, embedding });
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** The database, and the schema of a namespace in it. */
function placeOf({ url, searchPath }: Pick<PostgresStoreOptions, "url" | "searchPath">): string {
  const place = databasePlace(url);
  return searchPath === undefined ? place : `${place}#${searchPath[0]}`;
}

/** A database with tables, and with row-level security if requested. */
async function openSetUp(options: PostgresStoreOptions): Promise<Database> {
  const { isDirect, isWalled, schema, ...found } = await probeServer(options);
  const { prepare = isDirect, rowSecurity = isWalled, searchPath } = options;
  const isPartitioned = found.isPartitioned || options.partitions !== undefined;
  const place = placeOf(options);
  if (searchPath !== undefined && schema !== searchPath[0]) {
    throw workspaceDamaged(place, "is missing", { advice: RESTORE });
  }
  const open = (asWalled: boolean) =>
    openConnection({ ...options, prepare, isPartitioned, isWalled: asWalled });
  const database = open(isWalled);
  try {
    await migrate(database, place, { ...options, now: options.clock.now() }).catch((error) => {
      const isLost = error instanceof SvcError && error.code === "not_found";
      if (!(isLost && searchPath !== undefined)) throw error;
      throw workspaceDamaged(place, "has lost its tables", { advice: RESTORE, cause: error });
    });
    await requireWhole(database, place);
    if (options.isReadOnly === true) return database;
    // Tables added by a newer version have no row-level security yet.
    const isDone = rowSecurity === isWalled && (!isWalled || (await hasWholeWall(database)));
    if (isDone) return database;
    await setWall(database, rowSecurity, place);
  } catch (error) {
    await database.close();
    throw error;
  }
  if (rowSecurity === isWalled) return database;
  await database.close();
  return open(rowSecurity);
}
