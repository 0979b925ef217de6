import type { DatabaseHealth } from "../adapters/postgres/inspect/database-health.ts";
import { modelOfPack } from "../app/configured-embedder.ts";
import { withDatabase } from "../app/database-connection.ts";
import { extractor } from "../app/extraction-state.ts";
import { textsTo } from "../app/model-warning.ts";
import { argumentOf, databaseOf } from "../app/pack-path.ts";
import type { Config } from "../config/schema.ts";
import { ALL_OWNERS } from "../domain/owner.ts";
import type { Upkeep } from "../ports/store/work.ts";

const READING = { poolSize: 1, isReadOnly: true };

/**
 * Looks into the configured database without changing it.
 * @throws SvcError not_found without tables, pack_too_new, storage_busy while it is being filled, storage_unavailable, storage_failed
 */
export async function reportOnDatabase(config: Config) {
  const place = databaseOf(config) ?? "";
  const { inspectDatabase } = await import("../adapters/postgres/inspect/inspect-database.ts");
  const { requireTables } = await import("../adapters/postgres/schema/migrate.ts");
  const { requireWhole } = await import("../adapters/postgres/transfer/transfer-state.ts");
  const inspection = await withDatabase(config, READING, async (database) => {
    await database.read(ALL_OWNERS, (sql) => requireTables(sql, place));
    await requireWhole(database, place);
    return await database.snapshot(ALL_OWNERS, inspectDatabase);
  });
  const model = modelOfPack(config, inspection.manifest.embedding);
  return {
    ...inspection,
    path: argumentOf(config) ?? "",
    encrypted: undefined,
    keyBackup: undefined,
    damage: undefined,
    damagedReceipts: undefined,
    includesModel: model !== undefined,
    textsTo: model && textsTo(config, model),
    extractor: extractor(config),
    receiptDays: config.receipts.retention_days,
  };
}

/** How the server of the configured database stands. @throws SvcError storage_unavailable, storage_failed */
export async function healthOfDatabase(config: Config): Promise<DatabaseHealth> {
  const { readHealth } = await import("../adapters/postgres/inspect/database-health.ts");
  return await withDatabase(config, READING, (database) =>
    database.read(ALL_OWNERS, (sql) => readHealth(sql, Date.now)),
  );
}

/** Reads about what fades in the configured database. @throws SvcError storage_unavailable, storage_failed */
export async function fadingOfDatabase<T>(
  config: Config,
  use: (
    reads: Pick<Upkeep, "walkAging" | "lastSteps" | "lastUses" | "countRetained">,
  ) => Promise<T>,
): Promise<T> {
  const [{ bindUpkeep }, { accessOf }] = await Promise.all([
    import("../adapters/sql/upkeep.ts"),
    import("../adapters/postgres/connection/run.ts"),
  ]);
  return await withDatabase(config, READING, (database) => use(bindUpkeep(accessOf(database))));
}
