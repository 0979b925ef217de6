import { databasePlace } from "../../../domain/addresses.ts";
import { SvcError } from "../../../domain/errors.ts";
import { ALL_OWNERS } from "../../../domain/owner.ts";
import { type ConnectionOptions, openConnection } from "./open-connection.ts";

/** How a connection to a database behaves. */
export type ServerTraits = {
  /**
   * Whether no pooler stands between this process and the server. A direct connection gets a process of the server that was started
   * with the settings of the connection; a pooler passes transactions on to processes that it started itself, with its own.
   */
  readonly isDirect: boolean;
  /** Where tables are made; undefined if no schema of the search path exists. */
  readonly schema: string | undefined;
  /** Whether row-level security is on. */
  readonly isWalled: boolean;
  /** Whether the tables are in partitions. */
  readonly isPartitioned: boolean;
};

/** Bounds of the limit that is sent, in milliseconds. Nobody sets such a number by chance. */
const [LIMIT_MIN, LIMIT_MAX] = [11_001, 19_999];

/** @throws SvcError unsupported if the search path gets lost on the way; storage_unavailable and what else opening a connection ends with */
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
