import type { LifecycleState } from "../../domain/enums.ts";
import type { MemoryEvent } from "../../domain/node.ts";
import { isEverybody, type Owner } from "../../domain/owner.ts";
import { asInstant, type Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { EventPage } from "../../ports/store/events.ts";
import type { EventWalk, Session, SessionPage, StoreState } from "../../ports/store/graph.ts";
import type { Page } from "../../ports/store/records.ts";
import type { Store } from "../../ports/store/store.ts";
import { ACTIVE, askedBy, keyOf, keyOrNull, ofOwner, Params } from "./conditions.ts";
import { countOf } from "./nodes.ts";
import { EVENT_COLUMNS, EVENT_PAGE, type EventRow, FROM_EVENTS, toEvent } from "./rows.ts";
import * as sql from "./statement.ts";

/** Events, and the conversations they belong to. */
export function bindEventReads({ read }: sql.Access) {
  return {
    event: (id, owner) => read(owner, () => readEvent(id, owner)),
    events: (wanted) => read(wanted.userId, () => readEvents(wanted)),
    eventsById: (ids, owner) => read(owner, () => readEventsById(ids, owner)),
    lastEventAt: (userId) => read(userId, () => readLastEventAt(userId)),
    countEvents: (owner) => read(owner, () => countEvents(owner)),
    eventsByTime: (wanted) => read(wanted.userId, () => readEventsByTime(wanted)),
    sessions: (wanted) => read(wanted.userId, () => readSessions(wanted)),
  } satisfies Partial<Store>;
}

function* readEvent(id: Uuid, of: Owner): sql.Steps<MemoryEvent | undefined> {
  const owner = yield* keyOf(of);
  if (owner === undefined) return undefined;
  const params = new Params(id);
  const row = yield* sql.get<EventRow>(
    `${FROM_EVENTS} WHERE e.id = $1::uuid AND ${ofOwner(params, "e.owner", owner)}`,
    ...params.values,
  );
  return row && toEvent(row);
}

/** A page of events, newest first. */
function* readEvents(wanted: EventPage): sql.Steps<readonly MemoryEvent[]> {
  const { userId, sessionId, scopes, limit, offset } = wanted;
  const owner = yield* sql.ownerKey(userId);
  if (owner === undefined) return [];
  const params = new Params(owner, limit, offset);
  const conditions = yield* conditionsOf(params, sessionId, scopes);
  const text = `${FROM_EVENTS} WHERE ${conditions} ORDER BY e.timestamp DESC, e.id DESC LIMIT $2 OFFSET $3`;
  return (yield* sql.page(EVENT_PAGE, limit, text, ...params.values)).items;
}

/** A page of an owner's events, read in the order of an index. */
function* readEventsByTime(wanted: EventWalk): sql.Steps<Page<MemoryEvent>> {
  const { userId, after, sessionId, scopes, oldestFirst, limit } = wanted;
  const owner = yield* sql.ownerKey(userId);
  if (owner === undefined) return { items: [], hasMore: false };
  const [order, compare] = oldestFirst ? ["ASC", ">"] : ["DESC", "<"];
  const params = new Params(owner, limit + 1);
  let conditions = yield* conditionsOf(params, sessionId, scopes);
  if (after !== undefined) {
    const place = `(${params.add(after.at)}, ${params.add(after.id)}::uuid)`;
    conditions += ` AND (e.timestamp, e.id) ${compare} ${place}`;
  }
  const text = `${FROM_EVENTS} WHERE ${conditions} ORDER BY e.timestamp ${order}, e.id ${order} LIMIT $2`;
  return yield* sql.page(EVENT_PAGE, limit, text, ...params.values);
}

/** Events of the owner $1, of one session, in some scopes. */
function* conditionsOf(
  params: Params,
  sessionId: string | undefined,
  scopes: readonly string[] | undefined,
): sql.Steps<string> {
  const { isSession } = yield* sql.dialect();
  const conditions = ["e.owner = $1::bigint"];
  if (sessionId !== undefined) conditions.push(isSession("e.session_id", params.add(sessionId)));
  if (scopes !== undefined) conditions.push(params.any("e.scope", scopes));
  return conditions.join(" AND ");
}

const BY_ID = sql.statement(
  ({ each, join }) => `SELECT ${EVENT_COLUMNS} FROM ${each("$1", "uuid", "k")}
    ${join} events e ON e.id = k.value JOIN owners o ON o.owner = e.owner WHERE $2::bigint IS NULL OR e.owner = $2::bigint`,
);

export function* readEventsById(ids: readonly Uuid[], of: Owner): sql.Steps<Page<MemoryEvent>> {
  const owner = yield* keyOrNull(of);
  const wanted = [...new Set(ids)];
  if (owner === undefined || wanted.length === 0) return { items: [], hasMore: false };
  return yield* sql.page(EVENT_PAGE, wanted.length, BY_ID, wanted, owner);
}

/** Events by id, in no particular order. */
export function* readEventRows(ids: readonly Uuid[], of: Owner): sql.Steps<EventRow[]> {
  const owner = yield* keyOrNull(of);
  if (owner === undefined || ids.length === 0) return [];
  return yield* sql.all<EventRow>(BY_ID, [...new Set(ids)], owner);
}

/** Of those whose content is erased only their places are left. */
export const ERASED_EVENTS = "erasures x JOIN events e ON e.id = x.event_id";

export function* countEvents(owner: Owner): sql.Steps<number> {
  const all = yield* countOf("events e", "true", "e.owner", owner);
  return all - (yield* countOf(ERASED_EVENTS, "true", "e.owner", owner));
}

const LAST = sql.statement(
  "SELECT timestamp AS at FROM events WHERE owner = $1::bigint ORDER BY timestamp DESC LIMIT 1",
);

/** The latest moment of an owner's events. */
function* readLastEventAt(userId: string): sql.Steps<Instant | undefined> {
  const owner = yield* sql.ownerKey(userId);
  return owner === undefined ? undefined : (yield* sql.get<{ at: Instant }>(LAST, owner))?.at;
}

type SessionRow = Omit<Session, "firstAt" | "lastAt"> & {
  readonly first: string;
  readonly last: string;
};

/** A page of an owner's conversations. Counts all of them, in the order of two covering indexes. */
function* readSessions({ userId, after, limit }: SessionPage): sql.Steps<Page<Session>> {
  const owner = yield* sql.ownerKey(userId);
  if (owner === undefined) return { items: [], hasMore: false };
  const params = new Params(owner, limit + 1);
  const place =
    after === undefined
      ? ""
      : `HAVING (max(last), session_id) < (${params.add(after.at)}, ${params.add(after.sessionId)})`;
  const rows = yield* sql.all<SessionRow>(
    `SELECT session_id AS "sessionId", min(first) AS first, max(last) AS last, sum(events)::float8 AS events,
       sum(memories)::float8 AS memories FROM (
         SELECT session_id, min(timestamp) AS first, max(timestamp) AS last, count(*) AS events, 0 AS memories
         FROM events WHERE owner = $1::bigint AND session_id IS NOT NULL GROUP BY session_id
         UNION ALL
         SELECT session_id, min(created_at), max(created_at), 0, count(*)
         FROM nodes WHERE owner = $1::bigint AND session_id IS NOT NULL AND lifecycle_state IN ${ACTIVE}
         GROUP BY session_id) parts
     GROUP BY session_id ${place} ORDER BY last DESC, session_id DESC LIMIT $2`,
    ...params.values,
  );
  const items = rows.slice(0, limit).map(({ first, last, ...rest }) => ({
    ...rest,
    firstAt: asInstant(first),
    lastAt: asInstant(last),
  }));
  return { items, hasMore: rows.length > limit };
}

/** An owner's data: memories by state, and receipts. */
export function* readStates(of: Owner): sql.Steps<Pick<StoreState, "states" | "receipts">> {
  const owner = yield* keyOf(of);
  const states: { state: LifecycleState; count: number }[] = [];
  if (owner !== undefined) {
    const params = new Params();
    const mine = ofOwner(params, "n.owner", owner);
    const text = `SELECT n.lifecycle_state AS state, count(*)::float8 AS count FROM nodes n WHERE ${mine} GROUP BY 1`;
    states.push(
      ...(yield* sql.all<{ state: LifecycleState; count: number }>(text, ...params.values)),
    );
  }
  const params = new Params();
  const asked = isEverybody(of) ? "true" : yield* askedBy(params, of);
  const receipts = yield* sql.get<{ count: number }>(
    `SELECT count(*)::float8 AS count FROM receipts r WHERE ${asked}`,
    ...params.values,
  );
  return {
    states: Object.fromEntries(states.map(({ state, count }) => [state, count])),
    receipts: receipts?.count ?? 0,
  };
}
