import type { Config } from "../../config/schema.ts";
import { connectionOptions } from "../database-connection.ts";
import { openEngine } from "../open-engine.ts";
import type { Namespaces } from "./namespaces.ts";

/**
 * Opens the namespaces of a database, making their registry if it is missing.
 * @throws SvcError workspace_damaged, unsupported, storage_failed, storage_busy, storage_unavailable
 */
export async function openDatabase(config: Config): Promise<Namespaces> {
  // Only processes with a database need its driver.
  const { openCatalog } = await import("../../adapters/postgres/workspace/catalog.ts");
  const { searchPath, ...catalog } = await openCatalog(connectionOptions(config));
  return {
    ...catalog,
    open: async ({ id, name, isInitialized }, makeEmbedder) =>
      await openEngine(
        { ...config, namespace_id: id },
        {
          createIfMissing: !isInitialized,
          makeEmbedder,
          namespaceName: name,
          searchPath: searchPath(id),
        },
      ),
  };
}
