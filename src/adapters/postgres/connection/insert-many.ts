import type { Column } from "../../sql/columns.ts";
import type { NumberedRows, NumberedTable } from "../../sql/statement.ts";
import type { Sql } from "./sql.ts";

type Cells = readonly (string | number | null | Uint8Array)[];

/** Inserts rows of one owner with the owner's next keys, in one statement. @returns the first key */
export async function insertNumbered(
  sql: Sql,
  { name, columns, counter }: NumberedTable,
  { owner, userId, rows }: NumberedRows,
): Promise<number> {
  const names = columns.map(([column]) => column).join(", ");
  const row = await sql.get<{ first: number }>(
    `WITH taken AS (
       INSERT INTO owners (owner, user_id, version, ${counter}) VALUES ($1::bigint, $2, 1, 1 + $3::integer)
       ON CONFLICT (owner) DO UPDATE SET ${counter} = owners.${counter} + $3::integer
       RETURNING ${counter} - $3::integer AS first),
     written AS (
       INSERT INTO ${name} (owner, key, ${names})
       SELECT $1::bigint, (SELECT first FROM taken) + place_in_list::integer - 1, ${names} ${given(columns, 4)})
     SELECT first FROM taken`,
    owner,
    userId,
    rows.length,
    ...listsOf(columns, rows),
  );
  return row?.first ?? 0;
}

/** Rows as lists of their columns, from that parameter number on, as SQL. */
function given(columns: readonly Column[], from: number): string {
  const names = columns.map(([name]) => name).join(", ");
  const types = columns.map(([, type], place) => `$${from + place}::${type}[]`).join(", ");
  return `FROM unnest(${types}) WITH ORDINALITY AS given (${names}, place_in_list) ORDER BY place_in_list`;
}

/** Rows as lists of their columns: the parameters of an insert. */
export function listsOf(columns: readonly Column[], rows: readonly Cells[]): Cells[] {
  return columns.map((_, place) => rows.map((row) => row[place] ?? null));
}

/** Inserts rows in order, in one statement. @param tail what follows, such as `ON CONFLICT DO NOTHING` @returns the number written */
export async function insertMany(
  sql: Sql,
  table: string,
  columns: readonly Column[],
  rows: readonly Cells[],
  tail = "",
): Promise<number> {
  if (rows.length === 0) return 0;
  return await sql.run(`${insertion(table, columns)} ${tail}`, ...listsOf(columns, rows));
}

/** A statement that inserts rows in order. */
export function insertion(table: string, columns: readonly Column[]): string {
  const names = columns.map(([name]) => name).join(", ");
  return `INSERT INTO ${table} (${names}) SELECT ${names} ${given(columns, 1)}`;
}
