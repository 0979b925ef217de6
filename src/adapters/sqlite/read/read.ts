import type { Database } from "bun:sqlite";
import { LIMITS } from "../../../domain/arguments.ts";
import type { MemoryEvent, MemoryNode } from "../../../domain/node.ts";
import { isEverybody, type Owner } from "../../../domain/owner.ts";
import { PageBuilder } from "../../../domain/search/pages.ts";
import { asInstant, type Instant } from "../../../lib/instant.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { EventPage } from "../../../ports/store/events.ts";
import type { NodeFilter } from "../../../ports/store/graph.ts";
import type { Page } from "../../../ports/store/records.ts";
import { ask, countRows, type Parameter } from "../connection/ask.ts";
import { ownerKey, ownerKeyOrAll, userIdOf } from "../write/owners.ts";
import {
  EVENT_COLUMNS,
  type EventRow,
  NODE_COLUMNS,
  type NodeRow,
  toEvent,
  toNode,
} from "../write/rows.ts";
import { ACTIVE } from "../write/turns.ts";
import { nodeCondition } from "./filter-sql.ts";
import { EVENT_PAGE, NODE_PAGE, nodeReader, readPage } from "./pages.ts";
import { damaged, requireSound } from "./sound.ts";
import { readInOrder } from "./walks.ts";

export function readEvent(database: Database, id: Uuid, owner: Owner): MemoryEvent | undefined {
  const row = database
    .query<EventRow, [string, string | null]>(
      `SELECT ${EVENT_COLUMNS} FROM events e JOIN owners o ON o.owner = e.owner
       WHERE e.id = ?1 AND (?2 IS NULL OR o.user_id = ?2)`,
    )
    .get(id, userIdOf(owner));
  return row === null ? undefined : toEvent(row);
}

/** A page of events, newest first. */
export function readEvents(database: Database, page: EventPage): readonly MemoryEvent[] {
  const owner = ownerKey(database, page.userId);
  if (owner === undefined) return [];
  const conditions = ["e.owner = ?"];
  const parameters: Parameter[] = [owner];
  if (page.sessionId !== undefined) {
    conditions.push("e.session_id = ?");
    parameters.push(page.sessionId);
  }
  if (page.scopes !== undefined) {
    conditions.push(`e.scope IN (${page.scopes.map(() => "?").join(", ")})`);
    parameters.push(...page.scopes);
  }
  const statement = database.query<EventRow, Parameter[]>(
    `SELECT ${EVENT_COLUMNS} FROM events e JOIN owners o ON o.owner = e.owner
     WHERE ${conditions.join(" AND ")} ORDER BY e.timestamp DESC, e.id DESC LIMIT ? OFFSET ?`,
  );
  const found = readPage(
    statement,
    [...parameters, page.limit, page.offset],
    page.limit,
    EVENT_PAGE,
  );
  return found.items;
}

const FROM_NODES = `SELECT ${NODE_COLUMNS} FROM nodes n JOIN owners o ON o.owner = n.owner`;

export function readNode(database: Database, id: Uuid, owner: Owner): MemoryNode | undefined {
  const row = database
    .query<NodeRow, [string, string | null]>(
      `${FROM_NODES} WHERE n.id = ?1 AND (?2 IS NULL OR o.user_id = ?2)`,
    )
    .get(id, userIdOf(owner));
  return row === null ? undefined : toNode(row);
}

/** Nodes that pass a filter, newest first unless requested otherwise. */
export function readNodes(database: Database, filter: NodeFilter): readonly MemoryNode[] {
  const nodes = findNodes(database, filter);
  // Not where a question, or the end of a list, finds nothing more.
  const { contentContainsAny: words = [], validAt, olderThan } = filter;
  const isList = words.length === 0 && (validAt ?? olderThan) === undefined;
  if (isList && nodes.length === 0) requireSound(database);
  return nodes;
}

function findNodes(database: Database, filter: NodeFilter): readonly MemoryNode[] {
  const owner = ownerKeyOrAll(database, filter.owner);
  if (owner === undefined) return [];
  const condition = nodeCondition(filter, owner);
  const direction = filter.oldestFirst ? "ASC" : "DESC";
  const needles = (filter.contentContainsAny ?? []).map((needle) => needle.toLowerCase());
  if (filter.limit === 0) return [];
  const page = new PageBuilder(NODE_PAGE, filter.limit);
  const readRow = nodeReader(database);
  // Only keys, because they are sorted; and an uncached statement: a cached one would stay open if the loop ends early.
  const keys = database.prepare<{ key: number }, Parameter[]>(
    `SELECT n.key FROM nodes n WHERE ${condition.sql}
     ORDER BY n.created_at ${direction}, n.id ${direction} LIMIT ?`,
  );
  try {
    const most = needles.length === 0 ? filter.limit : NO_LIMIT;
    for (const { key } of keys.iterate(...condition.parameters, most)) {
      const row = readRow(key);
      if (row === undefined) throw damaged(database);
      if (!containsAny(row.content, needles)) continue;
      if (!page.add(row) || page.isFull) break;
    }
  } finally {
    keys.finalize();
  }
  return page.page().items;
}

/** SQLite's value for no limit. */
const NO_LIMIT = -1;

/** Whether a text contains one of the lower-case texts; without any, every text does. */
function containsAny(content: string, needles: readonly string[]): boolean {
  if (needles.length === 0) return true;
  const text = content.toLowerCase();
  return needles.some((needle) => text.includes(needle));
}

/** Active nodes of an owner. */
export function countNodes(database: Database, owner: Owner): number {
  return count(database, `nodes WHERE lifecycle_state IN ${ACTIVE}`, owner);
}

/** The latest moment of an owner's events. */
export function readLastEventAt(database: Database, userId: string): Instant | undefined {
  const at = ask<string>(
    database,
    `SELECT e.timestamp FROM owners o CROSS JOIN events e ON e.owner = o.owner
     WHERE o.user_id = ? ORDER BY e.timestamp DESC LIMIT 1`,
    userId,
  );
  return at === undefined ? undefined : asInstant(at);
}

export function countEvents(database: Database, owner: Owner): number {
  return count(database, "events WHERE 1", owner);
}

function count(database: Database, from: string, owner: Owner): number {
  const key = ownerKeyOrAll(database, owner);
  if (key === undefined) return 0;
  if (isEverybody(key)) return countRows(database, from);
  return countRows(database, `${from} AND owner = ?`, key);
}

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
