import type { Database } from "bun:sqlite";
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
import { sqlList } from "../../sql/dialect.ts";
import { hasRow } from "../connection/ask.ts";
import { ownerKey } from "../write/owners.ts";
import { ACTIVE } from "../write/turns.ts";

const CLAIMS = sqlList([...STATEMENTS]);

/** What replaced a node, as SQL: null for one that holds, or that ended otherwise. */
const replacing = (node: string): string =>
  `CASE WHEN ${node}.lifecycle_state NOT IN ${ACTIVE} THEN ${node}.superseded_by END`;

/** The claims of each note of ?1, read off the events that the note cites. */
const CLAIMS_OF_NOTES = `SELECT n.key AS note, n.evidence_refs AS cited, ${replacing("c")} AS next
  FROM json_each(?1) k CROSS JOIN nodes n ON n.key = k.value AND n.owner = ?2
    AND n.node_type = 'note' AND n.lifecycle_state IN ${ACTIVE}
  CROSS JOIN json_each(n.evidence_refs) r CROSS JOIN events e ON e.id = r.value AND e.owner = ?2
  CROSS JOIN node_evidence v ON v.event = e.key
  CROSS JOIN nodes c ON c.key = v.node AND c.owner = ?2 AND c.node_type IN ${CLAIMS}`;

/** The nodes with the ids of ?1, what replaced them, what replaced that, and so on. */
const REPLACEMENTS = `WITH RECURSIVE named (id) AS (
    SELECT value FROM json_each(?1)
    UNION SELECT ${replacing("n")} FROM named CROSS JOIN nodes n ON n.id = named.id AND n.owner = ?2
    LIMIT ${REPLACEMENTS_FOLLOWED})
  SELECT n.id, n.node_type, n.evidence_refs AS cited, ${replacing("n")} AS next
  FROM named CROSS JOIN nodes n ON n.id = named.id AND n.owner = ?2`;

/** What replaced all that was extracted from the message of a note; other notes are left out. */
export function readReplacedNotes(
  database: Database,
  userId: string,
  keys: readonly number[],
): ReadonlyMap<number, readonly Replacement[]> {
  const owner = ownerKey(database, userId);
  if (owner === undefined || keys.length === 0) return new Map();
  return database.transaction(() => {
    if (!hasRow(database, `nodes WHERE owner = ? AND node_type IN ${CLAIMS}`, owner)) {
      return new Map();
    }
    const rows = database
      .query<ClaimRow, [string, number]>(CLAIMS_OF_NOTES)
      .all(JSON.stringify(keys), owner);
    const claims = replacedClaims(rows.map(claimOf));
    const replacing = new Set(claims.flatMap(({ next }) => next ?? []));
    return replacementsOf(claims, laterNodes(database, owner, replacing));
  })();
}

function laterNodes(database: Database, owner: number, ids: ReadonlySet<Uuid>) {
  if (ids.size === 0) return new Map<Uuid, Later>();
  const rows = database
    .query<LaterRow, [string, number]>(REPLACEMENTS)
    .all(JSON.stringify([...ids]), owner);
  return new Map(rows.map(laterOf).map((node) => [node.id, node]));
}
