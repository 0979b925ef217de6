import type { Database } from "bun:sqlite";
import { asUuid, type Uuid } from "../../../lib/uuid.ts";
import { ownerKey } from "../write/owners.ts";

/** The id of the owner's node at the other end of a contested node's newest edge in one direction. */
function otherEnd(here: "source" | "target", there: "source" | "target"): string {
  return `(SELECT o.id FROM edges e JOIN nodes o ON o.key = e.${there} AND o.owner = n.owner AND o.key <> n.key
    WHERE e.${here} = n.key AND e.edge_type = 'contradicts' AND e.owner = n.owner
    ORDER BY e.created_at DESC, e.key DESC LIMIT 1)`;
}

const OTHER_ENDS = `SELECT n.key, coalesce(${otherEnd("source", "target")}, ${otherEnd("target", "source")}) AS id
  FROM json_each(?) k CROSS JOIN nodes n ON n.key = k.value
  WHERE n.owner = ? AND n.lifecycle_state = 'contested'`;

/** What each contested node contradicts, else what contradicts it; nodes without such an edge are left out. */
export function readContradictions(
  database: Database,
  userId: string,
  keys: readonly number[],
): Map<number, Uuid> {
  const owner = ownerKey(database, userId);
  if (owner === undefined || keys.length === 0) return new Map();
  const rows = database
    .query<{ key: number; id: string | null }, [string, number]>(OTHER_ENDS)
    .all(JSON.stringify(keys), owner);
  return new Map(rows.flatMap(({ key, id }) => (id === null ? [] : [[key, asUuid(id)] as const])));
}
