import { SvcError } from "../../../domain/errors.ts";
import { ALL_OWNERS, isEverybody, type Owner } from "../../../domain/owner.ts";
import { NO_OWNER, ownerKey } from "../owner-key.ts";
import type { Database, Sql, Statements } from "./sql.ts";

/*
 * A second barrier between owners: the server shows a transaction only rows of the owners it declares. A statement that forgets its owner
 * then finds nothing of others, and a transaction without a declaration finds nothing at all.
 */

/** Declares the owners of a transaction. */
export const SEE = "SELECT set_config('svc.owners', $1, true)";
const EVERYBODY = "all";
const POLICY = "of_owners";
/** Prefix of our connections' names. */
export const APPLICATION = "svc";

/** Parameters of `SEE`: owner numbers. */
export function visible(owners: Owner | readonly string[]): string {
  if (isEverybody(owners)) return EVERYBODY;
  return [owners].flat().map(ownerKey).join(",");
}

/** SQLSTATE of a statement of ours without a declaration: its connection was opened before row-level security was on. */
export const UNNAMED = "SVC01";

/** The declared owners of the transaction; null if none, which fails. An empty result would be wrong. */
const OWNERS = `CREATE OR REPLACE FUNCTION svc_owners() RETURNS text STABLE PARALLEL SAFE LANGUAGE plpgsql AS $$
  DECLARE named text := nullif(current_setting('svc.owners', true), '');
  BEGIN
    IF named IS NULL AND starts_with(current_setting('application_name'), '${APPLICATION}') THEN
      RAISE EXCEPTION 'row-level security is on, and svc.owners names nobody' USING ERRCODE = '${UNNAMED}';
    END IF;
    RETURN named;
  END $$`;
/**
 * Evaluated once per statement, not per row. Rows without an owner belong to the database, and are visible to every transaction with a
 * declaration.
 */
const MAY_SEE = `(SELECT svc_owners() = '${EVERYBODY}') OR owner = ANY
  ((SELECT string_to_array(nullif(svc_owners(), '${EVERYBODY}') || ',${NO_OWNER}', ',')::bigint[])::bigint[])`;

/**
 * Statements that see all rows. An operation stays with its target's owner at the time of writing, and ids are checked across owners before
 * use: such statements filter by themselves.
 */
export function beyondWall(sql: Sql): Statements {
  return sql.beyondWall ?? sql;
}

/** Our tables with owners' data, and their partitions, which can be queried alone; and whether row-level security protects each. */
const TABLES = `SELECT c.relname AS name, c.relrowsecurity AND c.relforcerowsecurity AS is_walled
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'owner' AND NOT a.attisdropped
  WHERE c.relkind IN ('r', 'p') AND pg_table_is_visible(c.oid)
    AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('nodes')) ORDER BY c.relname`;

type Table = { readonly name: string; readonly is_walled: boolean };

/**
 * Turns row-level security on or off. Servers that have the database open adapt with their next call.
 * @throws SvcError unsupported for a user exempt from it; storage_failed for one who does not own the tables
 */
export async function setWall(database: Database, isWalled: boolean, place: string): Promise<void> {
  await database.writeAny(async (sql) => {
    if (isWalled) {
      await requireStoppable(sql, place);
      await sql.run(OWNERS);
    }
    const tables = await sql.all<Table>(TABLES);
    for (const table of tables.filter((one) => one.is_walled !== isWalled)) {
      for (const statement of change(table, isWalled)) await sql.run(statement);
    }
  });
}

function change({ name }: Table, isWalled: boolean): readonly string[] {
  const verbs = isWalled ? ["ENABLE", "FORCE"] : ["NO FORCE", "DISABLE"];
  return [
    `DROP POLICY IF EXISTS ${POLICY} ON ${name}`,
    ...(isWalled ? [`CREATE POLICY ${POLICY} ON ${name} USING (${MAY_SEE})`] : []),
    ...verbs.map((verb) => `ALTER TABLE ${name} ${verb} ROW LEVEL SECURITY`),
  ];
}

async function requireStoppable(sql: Sql, place: string): Promise<void> {
  const free = await sql.get<{ name: string }>(
    "SELECT rolname AS name FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)",
  );
  if (free === undefined) return;
  throw new SvcError(
    "unsupported",
    `${place}: row-level security does not stop the user ${free.name}, who is a superuser or has BYPASSRLS. Use another user, or unset database_row_security.`,
    { path: place },
  );
}

/** Whether there is a wall. */
export async function hasWall(database: Database): Promise<boolean> {
  const tables = await database.read(ALL_OWNERS, (sql) => sql.all<Table>(TABLES));
  return tables.some((table) => table.is_walled);
}

/** Whether row-level security protects all tables with owners' data. */
export async function hasWholeWall(database: Database): Promise<boolean> {
  const tables = await database.read(ALL_OWNERS, (sql) => sql.all<Table>(TABLES));
  return tables.every((table) => table.is_walled);
}
