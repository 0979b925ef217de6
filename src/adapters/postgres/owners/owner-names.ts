import {
  OWNER_RENAMED,
  OWNERS_JOINED,
  type OwnerName,
  ownerTarget,
} from "../../../domain/owner.ts";
import { asInstant } from "../../../lib/instant.ts";
import { beyondWall } from "../connection/row-security.ts";
import type { Sql } from "../connection/sql.ts";

type NameRow = {
  readonly user_id: string;
  readonly since: string | null;
  readonly until: string | null;
};

const MOVES = `op_type IN ('${OWNER_RENAMED}', '${OWNERS_JOINED}')`;
/** The index is by target; all owner targets are adjacent. */
const [FIRST, END] = [ownerTarget(""), "owner;"];

/**
 * The names that an owner has had, from the operations that gave everything under one name to another. They are in log order,
 * which is more reliable than clocks.
 */
export async function readOwnerNames(sql: Sql, userId: string): Promise<readonly OwnerName[]> {
  const rows = await beyondWall(sql).all<NameRow>(
    `WITH RECURSIVE moves AS MATERIALIZED (
       SELECT key, substr(target_id, ${FIRST.length + 1}) AS before, payload::json ->> 'after' AS after, created_at
       FROM operations WHERE target_id >= '${FIRST}' AND target_id < '${END}' AND ${MOVES}),
     names (user_id, until, place) AS (
       SELECT $1::text COLLATE "C", NULL::text COLLATE "C", 9223372036854775807
       UNION SELECT m.before, m.created_at, m.key FROM names n JOIN moves m ON m.after = n.user_id AND m.key < n.place)
     SELECT n.user_id, n.until, (SELECT m.created_at FROM moves m WHERE m.before = n.user_id AND m.key < n.place
       ORDER BY m.key DESC LIMIT 1) AS since
     FROM names n ORDER BY n.place DESC`,
    userId,
  );
  return rows.map(({ user_id: name, since, until }) => ({
    userId: name,
    since: since === null ? undefined : asInstant(since),
    until: until === null ? undefined : asInstant(until),
  }));
}
