import { loadSqliteVec } from "../adapters/native/sqlite-vec.ts";
import type { Connection } from "../adapters/sqlite/open-reading.ts";
import type { Config } from "../config/schema.ts";

/** How the settings say to connect to a pack, for work that needs no engine. */
export async function packConnection(config: Config): Promise<Connection> {
  return {
    synchronous: config.synchronous,
    busyTimeoutMs: config.busy_timeout_ms,
    vecExtensionPath: loadSqliteVec(),
  };
}
