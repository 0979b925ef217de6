import type { Database } from "bun:sqlite";
import type { MemoryEvent } from "../../../domain/event.ts";
import { LIMITS } from "../../../domain/limits.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Page } from "../../../ports/store/page.ts";
import { EVENT_COLUMNS, type EventRow } from "../write/rows.ts";
import type { Parameter } from "./filter-sql.ts";
import { readInOrder } from "./in-order.ts";
import { EVENT_PAGE, readPage } from "./pages.ts";

/** Nodes of the owner of an event that cite it, in any state, by id. */
export function readNodesCiting(database: Database, eventId: Uuid): readonly MemoryNode[] {
  // Keys only, because they are sorted.
  const keys = database
    .query<{ key: number }, [string, number]>(
      `SELECT n.key FROM events e CROSS JOIN node_evidence c ON c.event = e.key
       CROSS JOIN nodes n ON n.key = c.node AND n.owner = e.owner
       WHERE e.id = ? ORDER BY n.id LIMIT ?`,
    )
    .all(eventId, LIMITS.citingNodesMax);
  return readInOrder(
    database,
    keys.map(({ key }) => key),
  );
}

/** Events by id, of any owner. */
export function readEventsById(database: Database, ids: readonly Uuid[]): Page<MemoryEvent> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return { items: [], hasMore: false };
  const statement = database.query<EventRow, Parameter[]>(
    `SELECT ${EVENT_COLUMNS} FROM json_each(?) i CROSS JOIN events e ON e.id = i.value
     JOIN owners o ON o.owner = e.owner`,
  );
  return readPage(statement, [JSON.stringify(wanted)], wanted.length, EVENT_PAGE);
}
