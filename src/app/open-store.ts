import type { PostgresStoreOptions } from "../adapters/postgres/open-store.ts";
import { mainPath } from "../adapters/sqlite/connection/layout.ts";
import { isReadOnlyPack, openReadOnlyStore } from "../adapters/sqlite/open-read-only.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../adapters/sqlite/open-store.ts";
import type { Config } from "../config/schema.ts";
import { SvcError } from "../domain/errors.ts";
import type { PackLock, Store } from "../ports/store/store.ts";
import { connectionOptions } from "./database-connection.ts";
import { opening } from "./pack-connection.ts";
import { keyTextOf } from "./pack-key.ts";
import { argumentOf, databaseOf, layoutOf } from "./pack-path.ts";

/** An open store, and what differs between a pack and a database. */
export type OpenedStore = {
  readonly store: Store;
  readonly packLock: PackLock;
  /** Names the store to a person. */
  readonly place: string;
  readonly isReadOnly: boolean;
  /** How it searches, as receipts record it. */
  readonly searches: Readonly<Record<"vector_search" | "lexical_search", string>>;
};

type Shared = Pick<
  SqliteStoreOptions & PostgresStoreOptions,
  "createIfMissing" | "embedding" | "modelFor" | "softwareVersion" | "scoringVersion" | "clock"
> & {
  readonly namespaceName?: string | undefined;
  /** Of a database: the schemas in which names are looked up. */
  readonly searchPath?: readonly string[] | undefined;
};

/** Opens the configured pack, or the configured database. @param readOnly default: only if the files cannot be written */
export async function openConfiguredStore(
  config: Config,
  shared: Shared,
  readOnly: boolean | undefined,
): Promise<OpenedStore> {
  const database = databaseOf(config);
  if (database !== undefined) return await openDatabase(config, shared, readOnly === true);
  const layout = layoutOf(config);
  const isReadOnly = readOnly ?? isReadOnlyPack(layout);
  const { vecExtensionPath, namespace } = opening(config);
  const store = await (isReadOnly ? openReadOnlyStore : openSqliteStore)({
    ...shared,
    layout,
    synchronous: config.synchronous,
    writeQueueSize: config.write_queue_size,
    busyTimeoutMs: config.busy_timeout_ms,
    vecExtensionPath,
    encryptionKey: keyTextOf(config),
    namespace: namespace && { ...namespace, name: shared.namespaceName },
  });
  const searches = { vector_search: "exact cosine", lexical_search: "bm25, fts5" };
  return { store, packLock: store, place: mainPath(layout), isReadOnly, searches };
}

async function openDatabase(
  config: Config,
  shared: Shared,
  isReadOnly: boolean,
): Promise<OpenedStore> {
  // Only processes with a database need its driver.
  const { openPostgresStore } = await import("../adapters/postgres/open-store.ts");
  const place = databaseOf(config) ?? "";
  const { namespace } = opening(config);
  const argument = argumentOf(config) ?? "";
  const store = await openPostgresStore({
    ...shared,
    ...connectionOptions(config),
    rowSecurity: config.database_row_security,
    partitions: config.database_partitions,
    namespace: namespace && { ...namespace, name: shared.namespaceName },
    isReadOnly,
  });
  const refuse = async (): Promise<never> => {
    throw new SvcError("unsupported", `${place}: a database has no key, and so is not locked`, {
      path: place,
    });
  };
  const searches = { vector_search: "exact cosine", lexical_search: "bm25, posting blocks" };
  return {
    store,
    packLock: { lock: refuse, unlock: refuse },
    place: argument,
    isReadOnly,
    searches,
  };
}
