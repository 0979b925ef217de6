import { type ConnectionOptions, openConnection } from "./open-connection.ts";
import { probeServer } from "./probe-server.ts";
import type { Database } from "./sql.ts";

export type FittingOptions = Omit<ConnectionOptions, "prepare" | "isWalled"> & {
  /** Default: whether the connection is direct. */
  readonly prepare?: boolean | undefined;
};

/**
 * Opens a database as its server needs it, whether or not a pooler stands between and row-level security is on.
 * @throws SvcError storage_unavailable and what else opening a connection ends with
 */
export async function openFitting(options: FittingOptions): Promise<Database> {
  const { isDirect, isWalled } = await probeServer(options);
  return openConnection({ ...options, prepare: options.prepare ?? isDirect, isWalled });
}
