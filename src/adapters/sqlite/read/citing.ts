import type { Database } from "bun:sqlite";
import type { MemoryEvent } from "../../../domain/event.ts";
import { LIMITS } from "../../../domain/limits.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import type { Owner } from "../../../domain/owner.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Page } from "../../../ports/store/page.ts";
import { userIdOf } from "../write/owners.ts";
import { EVENT_COLUMNS, type EventRow } from "../write/rows.ts";
import type { Parameter } from "./filter-sql.ts";
import { readInOrder } from "./in-order.ts";
import { EVENT_PAGE, readPage } from "./pages.ts";

/** Nodes in any state that cite an event and have the same owner, by id. */
export function readNodesCiting(
  database: Database,
  eventId: Uuid,
  owner: Owner,
): readonly MemoryNode[] {
  // Keys only, because they are sorted.
  const keys = database
    .query<{ key: number }, [string, string | null, number]>(
      `SELECT n.key FROM events e CROSS JOIN owners o ON o.owner = e.owner
       CROSS JOIN node_evidence c ON c.event = e.key
       CROSS JOIN nodes n ON n.key = c.node AND n.owner = e.owner
       WHERE e.id = ?1 AND (?2 IS NULL OR o.user_id = ?2) ORDER BY n.id LIMIT ?3`,
    )
    .all(eventId, userIdOf(owner), LIMITS.citingNodesMax);
  return readInOrder(
    database,
    keys.map(({ key }) => key),
  );
}

export function readEventsById(
  database: Database,
  ids: readonly Uuid[],
  owner: Owner,
): Page<MemoryEvent> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return { items: [], hasMore: false };
  const statement = database.query<EventRow, Parameter[]>(
    `SELECT ${EVENT_COLUMNS} FROM json_each(?1) i CROSS JOIN events e ON e.id = i.value
     JOIN owners o ON o.owner = e.owner WHERE ?2 IS NULL OR o.user_id = ?2`,
  );
  return readPage(statement, [JSON.stringify(wanted), userIdOf(owner)], wanted.length, EVENT_PAGE);
}
