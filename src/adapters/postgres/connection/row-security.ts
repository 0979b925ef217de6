import { SvcError } from "../../../domain/errors.ts";
import { ALL_OWNERS, isEverybody, type Owner } from "../../../domain/owner.ts";
import { NO_OWNER, ownerKey } from "../owner-key.ts";
import type { Database, Sql, Statements } from "./sql.ts";

/*
 * A second wall between owners: the server shows a transaction only rows of the owners that it names. A statement that forgets its
 * owner then finds nothing of anybody else's, and one of a transaction that names nobody finds nothing at all.
 */

/** Names the owners of a transaction. */
export const SEE = "SELECT set_config('svc.owners', $1, true)";
const EVERYBODY = "all";
const POLICY = "of_owners";
/** How the names of our connections begin. */
export const APPLICATION = "svc";

/** What `SEE` is given: numbers of owners. */
export function visible(owners: Owner | readonly string[]): string {
  if (isEverybody(owners)) return EVERYBODY;
  return [owners].flat().map(ownerKey).join(",");
}

/** SQLSTATE of a statement of ours that named nobody: its connection was opened when there was no wall. */
export const UNNAMED = "SVC01";

/** Whom the transaction has named; null for nobody, who is shown nothing. Nothing would be a wrong answer of ours. */
const OWNERS = `CREATE OR REPLACE FUNCTION svc_owners() RETURNS text STABLE PARALLEL SAFE LANGUAGE plpgsql AS $$
  DECLARE named text := nullif(current_setting('svc.owners', true), '');
  BEGIN
    IF named IS NULL AND starts_with(current_setting('application_name'), '${APPLICATION}') THEN
      RAISE EXCEPTION 'row-level security is on, and svc.owners names nobody' USING ERRCODE = '${UNNAMED}';
    END IF;
    RETURN named;
  END $$`;
/** Read once for each statement, not for each row. What has no owner belongs to the database, and is shown to all who name anybody. */
const MAY_SEE = `(SELECT svc_owners() = '${EVERYBODY}') OR owner = ANY
  ((SELECT string_to_array(nullif(svc_owners(), '${EVERYBODY}') || ',${NO_OWNER}', ',')::bigint[])::bigint[])`;

/**
 * Statements that see the rows of all. An operation stays with the owner who had its target when it was written, and an id is looked for
 * everywhere before it is given: such statements name what they want themselves.
 */
export function beyondWall(sql: Sql): Statements {
  return sql.beyondWall ?? sql;
}

/** Our tables with things of owners, and their partitions, which can be asked alone; and whether each has the wall. */
const TABLES = `SELECT c.relname AS name, c.relrowsecurity AND c.relforcerowsecurity AS is_walled
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'owner' AND NOT a.attisdropped
  WHERE c.relkind IN ('r', 'p') AND pg_table_is_visible(c.oid)
    AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('nodes')) ORDER BY c.relname`;

type Table = { readonly name: string; readonly is_walled: boolean };

/**
 * Builds the wall, or takes it away. Servers that have the database open adapt with their next call.
 * @throws SvcError unsupported for a user whom no wall stops; storage_failed for one who does not own the tables
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

/** Whether all tables with things of owners have the wall. */
export async function hasWholeWall(database: Database): Promise<boolean> {
  const tables = await database.read(ALL_OWNERS, (sql) => sql.all<Table>(TABLES));
  return tables.every((table) => table.is_walled);
}
