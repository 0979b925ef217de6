import type { Database } from "bun:sqlite";
import {
  type OwnerMemories,
  PACK_OWNER_SET,
  type PackOwner,
  toOwnerRecord,
} from "../../../domain/owner.ts";

import type { OwnerRecord } from "../../../ports/store/store.ts";
import { writeAuditRecords } from "../../sql/audit.ts";
import { run } from "../connection/run.ts";

import { readPackSetting, writePackSetting } from "../schema/pack-settings.ts";

/** The setting that names the owner of a pack. */
const OWNER = "owner";
/** Owners whose memories are counted. A pack with more does not belong to one person. */
const COUNTED = 50;

const HAS_ANYTHING = `(EXISTS (SELECT 1 FROM nodes n WHERE n.owner = o.owner)
  OR EXISTS (SELECT 1 FROM events e WHERE e.owner = o.owner))`;

export function readPackOwner(database: Database): PackOwner {
  const userId = readPackSetting(database, OWNER);
  if (userId !== undefined) return { from: "set", userId };
  const [first, second] = database
    .query<{ user_id: string }, []>(`SELECT user_id FROM owners o WHERE ${HAS_ANYTHING} LIMIT 2`)
    .all();
  if (first === undefined) return { from: "nobody" };
  return second === undefined ? { from: "only", userId: first.user_id } : { from: "several" };
}

/** Sets the owner of the pack. Runs inside a write transaction. */
export function writePackOwner(database: Database, userId: string, record: OwnerRecord): void {
  const before = readPackSetting(database, OWNER) ?? null;
  writePackSetting(database, OWNER, userId);
  run(database, writeAuditRecords(0, [toOwnerRecord(record, before, userId)]));
}

/** Applies the newest operation on the owner, in a pack made from an export. Runs inside a write transaction. */
export function adoptPackOwner(database: Database): void {
  const row = database
    .query<{ owner: string | null }, [string]>(
      "SELECT payload ->> 'after' AS owner FROM operations WHERE op_type = ? ORDER BY key DESC LIMIT 1",
    )
    .get(PACK_OWNER_SET);
  if (typeof row?.owner === "string") writePackSetting(database, OWNER, row.owner);
}

/** Owners with memories, those with the most first. @param limit at least 1 */
export function readOwnersWithMemories(
  database: Database,
  limit: number,
): readonly OwnerMemories[] {
  return database
    .query<OwnerMemories, [number, number]>(
      `SELECT user_id AS userId, (SELECT count(*) FROM nodes n WHERE n.owner = o.owner) AS memories
       FROM (SELECT owner, user_id FROM owners ORDER BY owner LIMIT ?) o
       WHERE memories > 0 ORDER BY memories DESC, o.owner LIMIT ?`,
    )
    .all(COUNTED, limit);
}
