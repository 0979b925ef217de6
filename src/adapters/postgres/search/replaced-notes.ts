import { STATEMENTS } from "../../../domain/extraction/plan/claims.ts";
import {
  type ClaimRow,
  claimOf,
  type Later,
  type LaterRow,
  laterOf,
  REPLACEMENTS_FOLLOWED,
  replacedClaims,
  replacementsOf,
} from "../../../domain/search/change.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Replacement } from "../../../ports/store/search-index.ts";
import { ACTIVE } from "../../sql/conditions.ts";
import { sqlList } from "../../sql/dialect.ts";
import type { Sql } from "../connection/sql.ts";
import { type OwnerKey, ownerKey } from "../owner-key.ts";

const CLAIMS = sqlList([...STATEMENTS]);

/** What replaced a node, as SQL: null for one that holds, or that ended otherwise. */
const replacing = (node: string): string =>
  `CASE WHEN ${node}.lifecycle_state NOT IN ${ACTIVE} THEN ${node}.superseded_by END`;

/** The claims of each note of $2, read off the events that the note cites. Most owners have none, which is seen first. */
const CLAIMS_OF_NOTES = `SELECT n.key AS note, n.evidence_refs AS cited, ${replacing("c")} AS next
  FROM nodes n CROSS JOIN LATERAL json_array_elements_text(n.evidence_refs::json) r (id)
    JOIN events e ON e.owner = $1::bigint AND e.id = r.id::uuid
    JOIN node_evidence v ON v.owner = $1::bigint AND v.event_id = e.id
    JOIN nodes c ON c.owner = $1::bigint AND c.key = v.node_key AND c.node_type IN ${CLAIMS}
  WHERE n.owner = $1::bigint AND n.key = ANY ($2::integer[]) AND n.node_type = 'note' AND n.lifecycle_state IN ${ACTIVE}
    AND EXISTS (SELECT 1 FROM nodes x WHERE x.owner = $1::bigint AND x.node_type IN ${CLAIMS})`;

/** The nodes with the ids of $2, what replaced them, what replaced that, and so on. */
const REPLACEMENTS = `WITH RECURSIVE named (id) AS (
    SELECT unnest($2::uuid[])
    UNION SELECT ${replacing("n")} FROM named JOIN nodes n ON n.owner = $1::bigint AND n.id = named.id)
  SELECT n.id, n.node_type, n.evidence_refs AS cited, ${replacing("n")} AS next
  FROM (SELECT id FROM named LIMIT ${REPLACEMENTS_FOLLOWED}) named JOIN nodes n ON n.owner = $1::bigint AND n.id = named.id`;

/**
 * What replaced all that was extracted from the message of a note; other notes are left out. Runs in a snapshot.
 */
export async function readReplacedNotes(
  sql: Sql,
  userId: string,
  keys: readonly number[],
): Promise<ReadonlyMap<number, readonly Replacement[]>> {
  if (keys.length === 0) return new Map();
  const owner = ownerKey(userId);
  const rows = await sql.all<ClaimRow>(CLAIMS_OF_NOTES, owner, keys);
  const claims = replacedClaims(rows.map(claimOf));
  const next = new Set(claims.flatMap((claim) => claim.next ?? []));
  return replacementsOf(claims, await laterNodes(sql, owner, next));
}

async function laterNodes(
  sql: Sql,
  owner: OwnerKey,
  ids: ReadonlySet<Uuid>,
): Promise<ReadonlyMap<Uuid, Later>> {
  if (ids.size === 0) return new Map();
  const rows = await sql.all<LaterRow>(REPLACEMENTS, owner, [...ids]);
  return new Map(rows.map(laterOf).map((node) => [node.id, node]));
}
