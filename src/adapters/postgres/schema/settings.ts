import type { Sql } from "../connection/sql.ts";

/** A value of the database; undefined if there is none. */
export async function readSetting(sql: Sql, name: string): Promise<string | undefined> {
  const row = await sql.get<{ value: string }>("SELECT value FROM settings WHERE name = $1", name);
  return row?.value;
}

/** Stores a value of the database; undefined removes it. Runs inside a write transaction. */
export async function writeSetting(
  sql: Sql,
  name: string,
  value: string | undefined,
): Promise<void> {
  if (value === undefined) await sql.run("DELETE FROM settings WHERE name = $1", name);
  else {
    await sql.run(
      "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      name,
      value,
    );
  }
}
