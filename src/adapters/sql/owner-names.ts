import { OWNER_RENAMED, OWNERS_JOINED, type OwnerName, ownerTarget } from "../../domain/owner.ts";
import { asInstant } from "../../lib/instant.ts";
import * as sql from "./statement.ts";

type NameRow = {
  readonly user_id: string;
  readonly since: string | null;
  readonly until: string | null;
  /** Position in the log. */
  readonly place: number;
};

const MOVES = `op_type IN ('${OWNER_RENAMED}', '${OWNERS_JOINED}')`;
/** The index is by target; all owner targets are adjacent. */
const [FIRST, END] = [ownerTarget(""), "owner;"];

const NAMES = sql.statement(`WITH RECURSIVE moves AS MATERIALIZED (
     SELECT key, substr(target_id, ${FIRST.length + 1}) AS before, payload::json ->> 'after' AS after, created_at
     FROM operations WHERE target_id >= '${FIRST}' AND target_id < '${END}' AND ${MOVES}),
   named (user_id, until, place) AS (
     SELECT $1::text COLLATE "C", NULL::text COLLATE "C", 9223372036854775807
     UNION SELECT moves.before, moves.created_at, moves.key FROM named JOIN moves ON moves.after = named.user_id AND moves.key < named.place)
   SELECT named.user_id, named.until, named.place::float8 AS place,
     (SELECT latest.created_at FROM moves latest WHERE latest.key = (SELECT max(moves.key) FROM moves
        WHERE moves.before = named.user_id AND moves.key < named.place)) AS since
   FROM named`);

/**
 * The former names of an owner, from the operations that moved everything from one name to another. They are in log order, which is more
 * reliable than clocks.
 */
export function* readOwnerNames(userId: string): sql.Steps<readonly OwnerName[]> {
  const rows = yield* sql.beyondWall(sql.all<NameRow>(NAMES, userId));
  return rows
    .sort((a, b) => b.place - a.place)
    .map(({ user_id: name, since, until }) => ({
      userId: name,
      since: since === null ? undefined : asInstant(since),
      until: until === null ? undefined : asInstant(until),
    }));
}
