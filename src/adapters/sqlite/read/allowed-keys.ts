import type { Database } from "bun:sqlite";
import { activeOf, type Condition, type Parameter } from "./filter-sql.ts";

/** The keys that are active nodes of the owner and pass; without a condition all of them, unchecked. */
export function allowedKeys(
  database: Database,
  keys: readonly number[],
  owner: number,
  narrowed: Condition | undefined,
): readonly number[] {
  if (narrowed === undefined) return keys;
  const active = activeOf(owner);
  return database
    .query<{ key: number }, Parameter[]>(
      `SELECT n.key FROM json_each(?) k CROSS JOIN nodes n ON n.key = k.value
       WHERE ${active.sql} AND ${narrowed.sql}`,
    )
    .all(JSON.stringify(keys), ...active.parameters, ...narrowed.parameters)
    .map(({ key }) => key);
}
