import type { FittingOptions } from "../adapters/postgres/connection/open-fitting.ts";
import type { Database } from "../adapters/postgres/connection/sql.ts";
import type { PostgresStoreOptions } from "../adapters/postgres/open-store.ts";
import type { Config } from "../config/schema.ts";

/** How to connect to the configured database. */
export function connectionOptions(
  config: Config,
): Pick<PostgresStoreOptions, "url" | "poolSize" | "prepare" | "statementTimeoutMs"> {
  return {
    url: config.database_url?.reveal() ?? "",
    poolSize: config.database_pool_size,
    prepare: config.database_prepare,
    statementTimeoutMs: config.database_timeout_ms,
  };
}

/**
 * Works on the configured database beside its store.
 * @throws SvcError storage_unavailable, storage_failed; and what the work throws
 */
export async function withDatabase<T>(
  config: Config,
  given: Partial<FittingOptions>,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  const { openFitting } = await import("../adapters/postgres/connection/open-fitting.ts");
  const database = await openFitting({ ...connectionOptions(config), ...given });
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}
