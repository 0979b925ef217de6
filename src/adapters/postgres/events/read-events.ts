import type { MemoryEvent } from "../../../domain/node.ts";
import type { Owner } from "../../../domain/owner.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { EventPage } from "../../../ports/store/events.ts";
import type { Page } from "../../../ports/store/records.ts";
import { isSession, ofOwner } from "../conditions.ts";
import { EVENT_PAGE, pageOf } from "../connection/pages.ts";
import { Params } from "../connection/params.ts";
import type { Sql } from "../connection/sql.ts";
import { ownerKey } from "../owner-key.ts";
import { type EventRow, FROM_EVENTS, toEvent } from "../rows.ts";

export async function readEvent(
  sql: Sql,
  id: Uuid,
  owner: Owner,
): Promise<MemoryEvent | undefined> {
  const params = new Params(id);
  const row = await sql.get<EventRow>(
    `${FROM_EVENTS} WHERE e.id = $1::uuid AND ${ofOwner(params, "e", owner)}`,
    ...params.values,
  );
  return row && toEvent(row);
}

/** A page of events, newest first. */
export async function readEvents(sql: Sql, page: EventPage): Promise<readonly MemoryEvent[]> {
  const params = new Params(ownerKey(page.userId), page.limit, page.offset);
  const conditions = ["e.owner = $1::bigint"];
  if (page.sessionId !== undefined)
    conditions.push(isSession("e.session_id", params.add(page.sessionId)));
  if (page.scopes !== undefined) conditions.push(params.any("e.scope", page.scopes));
  const rows = await sql.all<EventRow>(
    `${FROM_EVENTS} WHERE ${conditions.join(" AND ")} ORDER BY e.timestamp DESC, e.id DESC LIMIT $2 OFFSET $3`,
    ...params.values,
  );
  return pageOf(rows, page.limit, EVENT_PAGE).items;
}

export async function readEventsById(
  sql: Sql,
  ids: readonly Uuid[],
  owner: Owner,
): Promise<Page<MemoryEvent>> {
  const wanted = new Set(ids);
  if (wanted.size === 0) return { items: [], hasMore: false };
  const rows = await readEventRows(sql, wanted, owner);
  return pageOf(rows, wanted.size, EVENT_PAGE);
}

/** Events by id, in no particular order. */
export function readEventRows(sql: Sql, ids: Iterable<Uuid>, owner: Owner): Promise<EventRow[]> {
  const params = new Params();
  return sql.all<EventRow>(
    `${FROM_EVENTS} WHERE ${params.any("e.id", ids, "uuid")} AND ${ofOwner(params, "e", owner)}`,
    ...params.values,
  );
}

export async function countEvents(sql: Sql, owner: Owner): Promise<number> {
  const params = new Params();
  const row = await sql.get<{ count: number }>(
    `SELECT count(*)::float8 AS count FROM events e WHERE ${ofOwner(params, "e", owner)}`,
    ...params.values,
  );
  return row?.count ?? 0;
}

/** The latest moment of an owner's events. */
export async function readLastEventAt(sql: Sql, userId: string): Promise<Instant | undefined> {
  const row = await sql.get<{ at: Instant }>(
    "SELECT timestamp AS at FROM events WHERE owner = $1::bigint ORDER BY timestamp DESC LIMIT 1",
    ownerKey(userId),
  );
  return row?.at;
}
