import { databasePlace } from "../../domain/addresses.ts";
import { SvcError } from "../../domain/errors.ts";
import { ALL_OWNERS, type NamespaceIdentity, workspaceDamaged } from "../../domain/owner.ts";
import type { EmbeddingIdentity } from "../../ports/models.ts";
import type { Store } from "../../ports/store/store.ts";
import type { Clock } from "../../ports/system.ts";
import { begunModel } from "../sql/rebuild.ts";
import { requireManifest } from "../sql/settings.ts";
import { openConnection } from "./connection/open-connection.ts";
import type { FittingOptions } from "./connection/open-fitting.ts";
import { probeServer } from "./connection/probe-server.ts";
import { hasWholeWall, setWall } from "./connection/row-security.ts";
import { run } from "./connection/run.ts";
import type { Database } from "./connection/sql.ts";
import { createPostgresStore } from "./postgres-store.ts";
import { migrate } from "./schema/migrate.ts";
import { RESTORE, requireNamespace } from "./schema/namespace-identity.ts";
import { requireWhole } from "./transfer/transfer-state.ts";

export type PostgresStoreOptions = FittingOptions & {
  /** Whether the server hides what the owner of a call does not own. Default: as it does already. */
  readonly rowSecurity?: boolean | undefined;
  /** Partitions of each table that is made; see `SetUp`. */
  readonly partitions?: number | undefined;
  /** False: a database without tables is an error, and none are made. */
  readonly createIfMissing: boolean;
  /** Which namespace of a workspace this is; its schema is the first of the search path. */
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
  /** By which leases are given and end. Default: the server's, which is the same for all who use it. */
  readonly leaseClock?: Clock | undefined;
};

/**
 * Opens a database, and makes its tables when it has none.
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

/** The database, and the schema in it of a namespace. */
function placeOf({ url, searchPath }: Pick<PostgresStoreOptions, "url" | "searchPath">): string {
  const place = databasePlace(url);
  return searchPath === undefined ? place : `${place}#${searchPath[0]}`;
}

/** A database with tables, and with row-level security if it is asked for. */
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
    // Tables that a newer version has added have no wall yet.
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
