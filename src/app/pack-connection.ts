import type { FittingOptions } from "../adapters/postgres/connection/probe-server.ts";
import type { Database } from "../adapters/postgres/connection/sql.ts";
import type { PostgresStoreOptions } from "../adapters/postgres/open-store.ts";
import type { PackLayout } from "../adapters/sqlite/connection/layout.ts";
import type { Connection } from "../adapters/sqlite/connection/open-reading.ts";
import type { Config } from "../config/schema.ts";
import { parseUuid } from "../lib/uuid.ts";
import { keyTextOf, withCipher } from "./pack-key.ts";

/** Shared by everything that opens the files of the configured pack. */
export function opening(config: Pick<Config, "namespace_id">): Pick<Connection, "namespace"> {
  const id = parseUuid(config.namespace_id ?? "");
  return { namespace: id && { id } };
}

/**
 * Calls `use` with the configured connection to a pack, including its key, for work that needs no engine.
 * @throws SvcError encryption_failed if encryption is on and there is no key
 */
export async function withConnection<T>(
  config: Config,
  layout: PackLayout,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  return await withCipher(layout, keyTextOf(config), (cipher) =>
    use({
      synchronous: config.synchronous,
      busyTimeoutMs: config.busy_timeout_ms,
      ...opening(config),
      cipher,
    }),
  );
}

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

/** Works on the configured database without its store. @throws SvcError storage_unavailable, storage_failed; and what the work throws */
export async function withDatabase<T>(
  config: Config,
  given: Partial<FittingOptions>,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  const { openFitting } = await import("../adapters/postgres/connection/probe-server.ts");
  const database = await openFitting({ ...connectionOptions(config), ...given });
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}
