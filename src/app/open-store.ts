import { loadSqliteVec } from "../adapters/native/sqlite-vec.ts";
import type { PostgresStoreOptions } from "../adapters/postgres/open-store.ts";
import { mainPath } from "../adapters/sqlite/connection/layout.ts";
import { isReadOnlyPack, openReadOnlyStore } from "../adapters/sqlite/open-read-only.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../adapters/sqlite/open-store.ts";
import type { Config } from "../config/schema.ts";
import { SvcError } from "../domain/errors.ts";
import { parseUuid } from "../lib/uuid.ts";
import type { PackLock } from "../ports/store/pack-lock.ts";
import type { Store } from "../ports/store/store.ts";
import { keyTextOf } from "./pack-key.ts";
import { databaseOf, layoutOf } from "./pack-path.ts";

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
  | "createIfMissing"
  | "embedding"
  | "modelFor"
  | "softwareVersion"
  | "scoringVersion"
  | "clock"
  | "warn"
>;

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
  const store = await (isReadOnly ? openReadOnlyStore : openSqliteStore)({
    ...shared,
    layout,
    synchronous: config.synchronous,
    writeQueueSize: config.write_queue_size,
    busyTimeoutMs: config.busy_timeout_ms,
    vecExtensionPath: loadSqliteVec(),
    encryptionKey: keyTextOf(config),
    namespaceId: parseUuid(config.namespace_id ?? ""),
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
  const store = await openPostgresStore({
    ...shared,
    url: config.database_url?.reveal() ?? "",
    poolSize: config.database_pool_size,
    prepare: config.database_prepare,
    statementTimeoutMs: config.database_timeout_ms,
    isReadOnly,
  });
  const refuse = async (): Promise<never> => {
    throw new SvcError("unsupported", `${place}: a database has no key, and so is not locked`, {
      path: place,
    });
  };
  const searches = { vector_search: "exact cosine", lexical_search: "bm25, posting blocks" };
  return { store, packLock: { lock: refuse, unlock: refuse }, place, isReadOnly, searches };
}
