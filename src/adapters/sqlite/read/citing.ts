import type { Database } from "bun:sqlite";
import type { MemoryEvent } from "../../../domain/event.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import {
  EVENT_COLUMNS,
  type EventRow,
  NODE_COLUMNS,
  type NodeRow,
  toEvent,
  toNode,
} from "../write/rows.ts";

/** Nodes of the owner of an event that cite it, in any state, by id. */
export function readNodesCiting(database: Database, eventId: Uuid): MemoryNode[] {
  return database
    .query<NodeRow, [string]>(
      `SELECT ${NODE_COLUMNS} FROM events e CROSS JOIN node_evidence c ON c.event = e.key
       CROSS JOIN nodes n ON n.key = c.node AND n.owner = e.owner JOIN owners o ON o.owner = n.owner
       WHERE e.id = ? ORDER BY n.id`,
    )
    .all(eventId)
    .map(toNode);
}

/** Events by id, of any owner. */
export function readEventsById(database: Database, ids: readonly Uuid[]): MemoryEvent[] {
  if (ids.length === 0) return [];
  return database
    .query<EventRow, [string]>(
      `SELECT ${EVENT_COLUMNS} FROM json_each(?) i CROSS JOIN events e ON e.id = i.value
       JOIN owners o ON o.owner = e.owner`,
    )
    .all(JSON.stringify([...new Set(ids)]))
    .map(toEvent);
}
