import type { Database } from "bun:sqlite";
import type { JsonObject } from "../../../lib/json.ts";
import { ownerKey } from "../write/owners.ts";

/** How far jobs have come is kept with the work that they are: it comes again and again. */
const kindOf = (job: string): string => `walk:${job}`;

export function readWalkPlace(
  database: Database,
  job: string,
  userId: string,
): JsonObject | undefined {
  const row = database
    .query<{ payload: string | null }, [string, number | null]>(
      "SELECT payload FROM work WHERE subject = 0 AND kind = ? AND owner = ?",
    )
    .get(kindOf(job), ownerKey(database, userId) ?? null);
  return row === null || row.payload === null ? undefined : JSON.parse(row.payload);
}

/** Runs inside a write transaction. */
export function writeWalkPlace(
  database: Database,
  job: string,
  userId: string,
  place: JsonObject,
): void {
  const owner = ownerKey(database, userId);
  if (owner === undefined) return;
  database
    .query(
      `INSERT INTO work (subject, kind, owner, status, payload, updated_at) VALUES (0, ?1, ?2, 'complete', ?3, '')
       ON CONFLICT (subject, kind, owner) DO UPDATE SET payload = excluded.payload`,
    )
    .run(kindOf(job), owner, JSON.stringify(place));
}

/** Lets jobs begin again with an owner who was given other memories. Runs inside a write transaction. */
export function forgetWalkPlaces(database: Database, owner: number): void {
  database
    .query("DELETE FROM work WHERE subject = 0 AND kind LIKE 'walk:%' AND owner = ?")
    .run(owner);
}
