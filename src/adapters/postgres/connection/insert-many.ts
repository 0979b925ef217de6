import type { Sql } from "./sql.ts";
import { listText } from "./values.ts";

/** A column and its type, as SQL. */
export type Column = readonly [name: string, type: string];
type Cells = readonly (string | number | null)[];

/**
 * Inserts rows in their order, in one statement.
 * @param tail what follows, such as `ON CONFLICT DO NOTHING`
 * @returns how many were written
 */
export async function insertMany(
  sql: Sql,
  table: string,
  columns: readonly Column[],
  rows: readonly Cells[],
  tail = "",
): Promise<number> {
  if (rows.length === 0) return 0;
  const names = columns.map(([name]) => name).join(", ");
  const lists = columns.map(([, type], place) => `$${place + 1}::${type}[]`).join(", ");
  return await sql.run(
    `INSERT INTO ${table} (${names}) SELECT ${names}
     FROM unnest(${lists}) WITH ORDINALITY AS given (${names}, place_in_list) ORDER BY place_in_list ${tail}`,
    ...columns.map((_, place) => listText(rows.map((row) => row[place] ?? null))),
  );
}
