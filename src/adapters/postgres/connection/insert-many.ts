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

/** An array literal, for `$1::text[]`, `$1::uuid[]`, `$1::integer[]` or `$1::bytea[]`. */
export function listText(values: Iterable<string | number | null | Uint8Array>): string {
  const parts = Array.from(values, (value) => {
    if (value === null) return "NULL";
    if (value instanceof Uint8Array) return `"\\\\x${value.toHex()}"`;
    return typeof value === "number" ? String(value) : `"${value.replace(/["\\]/g, "\\$&")}"`;
  });
  return `{${parts.join(",")}}`;
}

const HEADER_BYTES = 4;
const FLOAT_BYTES = 4;

/** The numbers of a vector as returned by `vector_send`: a header, then big-endian floats. */
export function readVector(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const vector = new Float32Array((bytes.byteLength - HEADER_BYTES) / FLOAT_BYTES);
  for (let index = 0; index < vector.length; index += 1) {
    vector[index] = view.getFloat32(HEADER_BYTES + index * FLOAT_BYTES);
  }
  return vector;
}

/** A vector for `::vector`. */
export function writeVector(vector: Float32Array): string {
  return `[${vector.join(",")}]`;
}
