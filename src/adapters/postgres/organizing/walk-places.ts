import type { JsonObject } from "../../../lib/json.ts";
import type { Sql, WriteSql } from "../connection/sql.ts";
import { type OwnerKey, ownerKey } from "../owner-key.ts";

/** How far jobs have come is kept with the work that they are: it comes again and again. */
const kindOf = (job: string): string => `walk:${job}`;

export async function readWalkPlace(
  sql: Sql,
  job: string,
  userId: string,
): Promise<JsonObject | undefined> {
  const row = await sql.get<{ payload: string | null }>(
    "SELECT payload FROM work WHERE owner = $1::bigint AND kind = $2 AND subject = 0",
    ownerKey(userId),
    kindOf(job),
  );
  return row === undefined || row.payload === null ? undefined : JSON.parse(row.payload);
}

/** Runs inside a write transaction. */
export async function writeWalkPlace(
  sql: WriteSql,
  job: string,
  userId: string,
  place: JsonObject,
): Promise<void> {
  if (!sql.knows(userId)) return;
  await sql.run(
    `INSERT INTO work (owner, kind, subject, status, payload, updated_at) VALUES ($1::bigint, $2, 0, 'complete', $3, '')
     ON CONFLICT (owner, kind, subject) DO UPDATE SET payload = excluded.payload`,
    ...[ownerKey(userId), kindOf(job), JSON.stringify(place)],
  );
}

/** Lets jobs begin again with an owner who was given other memories. Runs inside a write transaction. */
export async function forgetWalkPlaces(sql: Sql, owner: OwnerKey): Promise<void> {
  await sql.run(
    "DELETE FROM work WHERE owner = $1::bigint AND kind LIKE 'walk:%' AND subject = 0",
    owner,
  );
}
