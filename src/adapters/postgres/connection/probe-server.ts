import { databasePlace } from "../../../domain/addresses.ts";
import { SvcError } from "../../../domain/errors.ts";
import { ALL_OWNERS } from "../../../domain/owner.ts";
import { type ConnectionOptions, openConnection } from "./open-connection.ts";
import type { Database } from "./sql.ts";

/** How a connection to a database behaves. */
export type ServerTraits = {
  /**
   * Whether there is no pooler in between. The server process of a direct connection was started with the connection's settings; a pooler
   * forwards transactions to processes with its own settings.
   */
  readonly isDirect: boolean;
  /** Where tables are created; undefined if no schema of the search path exists. */
  readonly schema: string | undefined;
  /** Whether row-level security is on. */
  readonly isWalled: boolean;
  /** Whether the tables are partitioned. */
  readonly isPartitioned: boolean;
};

/** Bounds of the random limit sent, in milliseconds, which is unlikely to be set otherwise. */
const [LIMIT_MIN, LIMIT_MAX] = [11_001, 19_999];

/**
 * @throws SvcError unsupported if the search path does not reach the server; storage_unavailable and any other error of opening a
 * connection
 */
export async function probeServer(
  options: Omit<ConnectionOptions, "prepare" | "isWalled">,
): Promise<ServerTraits> {
  const limit = Math.floor(LIMIT_MIN + Math.random() * (LIMIT_MAX - LIMIT_MIN));
  const probe = openConnection({
    ...options,
    poolSize: 1,
    prepare: false,
    statementTimeoutMs: limit,
  });
  try {
    const row = await probe.read(ALL_OWNERS, (sql) =>
      sql.get<{ setting: string; schema: string | null; walled: boolean; parts: boolean }>(
        `SELECT setting, current_schema()::text AS schema, EXISTS (SELECT 1 FROM pg_class WHERE oid = to_regclass('nodes') AND relrowsecurity) AS walled,
           EXISTS (SELECT 1 FROM pg_class WHERE oid = to_regclass('nodes') AND relkind = 'p') AS parts
         FROM pg_settings WHERE name = 'statement_timeout'`,
      ),
    );
    const isDirect = row?.setting === String(limit);
    if (!isDirect && options.searchPath !== undefined) throw noSettings(databasePlace(options.url));
    return {
      isDirect,
      schema: row?.schema ?? undefined,
      isWalled: row?.walled === true,
      isPartitioned: row?.parts === true,
    };
  } finally {
    await probe.close();
  }
}

function noSettings(place: string): SvcError {
  const message = `${place}: a pooler before the server drops the settings of a connection, which choose the schema of a namespace. Nothing was changed; give the address of the server itself.`;
  return new SvcError("unsupported", message, { path: place });
}

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
