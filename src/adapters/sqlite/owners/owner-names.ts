import type { Database } from "bun:sqlite";
import {
  OWNER_RENAMED,
  OWNERS_JOINED,
  type OwnerName,
  ownerTarget,
} from "../../../domain/owner.ts";
import { asInstant } from "../../../lib/instant.ts";

type NameRow = {
  readonly userId: string;
  readonly since: string | null;
  readonly until: string | null;
  /** Position in the log. */
  readonly place: number;
};

const MOVES = `op_type IN ('${OWNER_RENAMED}', '${OWNERS_JOINED}')`;
/** The index is by target; all owner targets are adjacent. */
const [FIRST, END] = [ownerTarget(""), "owner;"];

/**
 * The names that an owner has had, from the operations that gave everything under one name to another. They are in log order,
 * which is more reliable than clocks.
 */
export function readOwnerNames(database: Database, userId: string): readonly OwnerName[] {
  return database
    .query<NameRow, [string]>(
      `WITH RECURSIVE names (userId, until, place) AS (
         VALUES (?1, NULL, 9e18)
         UNION SELECT o.payload ->> 'before', o.created_at, o.key FROM names named CROSS JOIN operations o
         WHERE o.target_id >= '${FIRST}' AND o.target_id < '${END}' AND o.${MOVES}
           AND o.payload ->> 'after' = named.userId AND o.key < named.place)
       SELECT userId, until, place, (SELECT latest FROM
           (SELECT max(o.key), o.created_at AS latest FROM operations o
            WHERE o.target_id = '${FIRST}' || named.userId AND o.${MOVES} AND o.key < named.place)) AS since
       FROM names named`,
    )
    .all(userId)
    .sort((a, b) => b.place - a.place)
    .map(({ userId: name, since, until }) => ({
      userId: name,
      since: since === null ? undefined : asInstant(since),
      until: until === null ? undefined : asInstant(until),
    }));
}
