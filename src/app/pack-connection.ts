import { loadSqliteVec } from "../adapters/native/sqlite-vec.ts";
import type { PackLayout } from "../adapters/sqlite/connection/layout.ts";
import type { Connection } from "../adapters/sqlite/connection/open-reading.ts";
import type { Config } from "../config/schema.ts";
import { parseUuid } from "../lib/uuid.ts";
import { keyTextOf, withCipher } from "./pack-key.ts";

/** What every opening of the files of the configured pack needs. */
export function opening(
  config: Pick<Config, "namespace_id">,
): Pick<Connection, "vecExtensionPath" | "namespace"> {
  const id = parseUuid(config.namespace_id ?? "");
  return { vecExtensionPath: loadSqliteVec(), namespace: id && { id } };
}

/**
 * Calls `use` with the configured connection to a pack, key included, for work that needs no engine.
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
