import { randomUUID } from "node:crypto";
import type { LifecycleState } from "../../../domain/enums.ts";
import type { MemoryEvent } from "../../../domain/node.ts";
import { isEverybody, type Owner } from "../../../domain/owner.ts";
import { asInstant } from "../../../lib/instant.ts";
import type {
  Activity,
  EventWalk,
  Session,
  SessionPage,
  StoreState,
} from "../../../ports/store/graph.ts";
import type { Page } from "../../../ports/store/records.ts";
import { ACTIVE, isSession } from "../conditions.ts";
import { EVENT_PAGE, pageOf } from "../connection/pages.ts";
import { Params } from "../connection/params.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { ownerKey } from "../owner-key.ts";
import { type EventRow, FROM_EVENTS } from "../rows.ts";

/** What has happened in a database. */
export function bindActivity(database: Database): Activity {
  // So that no other store gives the same sequence.
  const opening = randomUUID();
  return {
    eventsByTime: (page) => database.read(page.userId, (sql) => readEventsByTime(sql, page)),
    sessions: (page) => database.read(page.userId, (sql) => readSessions(sql, page)),
    storeState: (owner) => database.snapshot(owner, (sql) => readStoreState(sql, owner, opening)),
  };
}

async function readEventsByTime(sql: Sql, page: EventWalk): Promise<Page<MemoryEvent>> {
  const { userId, after, sessionId, scopes, oldestFirst, limit } = page;
  const [order, compare] = oldestFirst ? ["ASC", ">"] : ["DESC", "<"];
  const params = new Params(ownerKey(userId), limit + 1);
  const conditions = ["e.owner = $1::bigint"];
  if (sessionId !== undefined) conditions.push(isSession("e.session_id", params.add(sessionId)));
  if (scopes !== undefined) conditions.push(params.any("e.scope", scopes));
  if (after !== undefined) {
    const place = `(${params.add(after.at)}, ${params.add(after.id)}::uuid)`;
    conditions.push(`(e.timestamp, e.id) ${compare} ${place}`);
  }
  const rows = await sql.all<EventRow>(
    `${FROM_EVENTS} WHERE ${conditions.join(" AND ")} ORDER BY e.timestamp ${order}, e.id ${order} LIMIT $2`,
    ...params.values,
  );
  return pageOf(rows, limit, EVENT_PAGE);
}

type SessionRow = {
  readonly sessionId: string;
  readonly first: string;
  readonly last: string;
  readonly events: number;
  readonly memories: number;
};

/** A page of an owner's conversations. Counts all of them. */
async function readSessions(sql: Sql, page: SessionPage): Promise<Page<Session>> {
  const { userId, after, limit } = page;
  const params = new Params(ownerKey(userId), limit + 1);
  const place =
    after === undefined
      ? ""
      : `HAVING (max(last), session_id) < (${params.add(after.at)}, ${params.add(after.sessionId)})`;
  const rows = await sql.all<SessionRow>(
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

/** The database, and what an owner has in it. */
async function readStoreState(sql: Sql, owner: Owner, opening: string): Promise<StoreState> {
  const key = isEverybody(owner) ? [] : [ownerKey(owner)];
  const isOf = (table: string) => (isEverybody(owner) ? "true" : `${table}.owner = $1::bigint`);
  const [states, rest] = await Promise.all([
    sql.all<{ state: LifecycleState; count: number }>(
      `SELECT n.lifecycle_state AS state, count(*)::float8 AS count FROM nodes n
       WHERE ${isOf("n")} GROUP BY 1`,
      ...key,
    ),
    sql.get<{ version: string; receipts: number; bytes: number }>(
      `SELECT (SELECT coalesce(sum(version), 0)::text FROM owners o WHERE ${isOf("o")}) AS version,
         (SELECT count(*) FROM receipts r WHERE ${isOf("r")})::float8 AS receipts,
         pg_database_size(current_database())::float8 AS bytes`,
      ...key,
    ),
  ]);
  return {
    changeSequence: `${opening}-${rest?.version ?? ""}`,
    bytes: rest?.bytes ?? 0,
    // The disk may be, and no statement tells.
    isEncrypted: undefined,
    states: Object.fromEntries(states.map(({ state, count }) => [state, count])),
    receipts: rest?.receipts ?? 0,
  };
}
