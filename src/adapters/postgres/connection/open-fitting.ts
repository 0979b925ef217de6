import { type ConnectionOptions, openConnection } from "./open-connection.ts";
import { probeServer } from "./probe-server.ts";
import type { Database } from "./sql.ts";

export type FittingOptions = Omit<ConnectionOptions, "prepare" | "isWalled"> & {
  /** Default: whether the connection is direct. */
  readonly prepare?: boolean | undefined;
};

/**
 * Opens a database with the right options for its server, with or without a pooler or row-level security.
 * @throws SvcError storage_unavailable and any other error of opening a connection
 */
export async function openFitting(options: FittingOptions): Promise<Database> {
  const { isDirect, isWalled } = await probeServer(options);
  return openConnection({ ...options, prepare: options.prepare ?? isDirect, isWalled });
}
