import type { Database } from "bun:sqlite";
import type { LifecycleState } from "../../../domain/enums.ts";
import type { MemoryEvent } from "../../../domain/node.ts";
import { isEverybody, type Owner } from "../../../domain/owner.ts";
import { asInstant } from "../../../lib/instant.ts";
import type { EventWalk, Session, SessionPage, StoreState } from "../../../ports/store/graph.ts";
import type { Page } from "../../../ports/store/records.ts";
import { ask, countRows, type Parameter } from "../connection/ask.ts";
import { ownerKey, ownerKeyOrAll, userIdOf } from "../write/owners.ts";
import { EVENT_COLUMNS, type EventRow } from "../write/rows.ts";
import { ACTIVE } from "../write/turns.ts";
import { Conditions } from "./filter-sql.ts";
import { EVENT_PAGE, readPage } from "./pages.ts";

/** A page of an owner's events, read in the order of an index. */
export function readEventsByTime(database: Database, page: EventWalk): Page<MemoryEvent> {
  const owner = ownerKey(database, page.userId);
  if (owner === undefined) return { items: [], hasMore: false };
  const { after, sessionId, scopes, oldestFirst, limit } = page;
  const [order, compare] = oldestFirst ? ["ASC", ">"] : ["DESC", "<"];
  const conditions = new Conditions();
  conditions.add("e.owner = ?", owner);
  if (sessionId !== undefined) conditions.add("e.session_id = ?", sessionId);
  if (scopes !== undefined) conditions.addAny("e.scope", scopes);
  if (after !== undefined) {
    conditions.add(`(e.timestamp, e.id) ${compare} (?, ?)`, after.at, after.id);
  }
  const { sql, parameters } = conditions.build();
  const statement = database.query<EventRow, Parameter[]>(
    `SELECT ${EVENT_COLUMNS} FROM events e CROSS JOIN owners o ON o.owner = e.owner
     WHERE ${sql} ORDER BY e.timestamp ${order}, e.id ${order} LIMIT ?`,
  );
  return readPage(statement, [...parameters, limit + 1], limit, EVENT_PAGE);
}

type SessionRow = {
  readonly sessionId: string;
  readonly first: string;
  readonly last: string;
  readonly events: number;
  readonly memories: number;
};

/** A page of an owner's conversations. Counts all of them, in the order of two indexes that have all that is counted. */
export function readSessions(database: Database, page: SessionPage): Page<Session> {
  const owner = ownerKey(database, page.userId);
  if (owner === undefined) return { items: [], hasMore: false };
  const { after, limit } = page;
  const place = after === undefined ? "" : "HAVING (max(last), sessionId) < (?2, ?3)";
  const rows = database
    .query<SessionRow, Parameter[]>(
      `SELECT sessionId, min(first) AS first, max(last) AS last, sum(events) AS events, sum(memories) AS memories FROM (
         SELECT session_id AS sessionId, min(timestamp) AS first, max(timestamp) AS last, count(*) AS events, 0 AS memories
         FROM events WHERE owner = ?1 AND session_id IS NOT NULL GROUP BY session_id
         UNION ALL
         SELECT session_id, min(created_at), max(created_at), 0, count(*)
         FROM nodes WHERE owner = ?1 AND session_id IS NOT NULL AND lifecycle_state IN ${ACTIVE} GROUP BY session_id)
       GROUP BY sessionId ${place} ORDER BY last DESC, sessionId DESC LIMIT ?${after === undefined ? 2 : 4}`,
    )
    .all(owner, ...(after === undefined ? [] : [after.at, after.sessionId]), limit + 1);
  const items = rows.slice(0, limit).map(({ first, last, ...rest }) => ({
    ...rest,
    firstAt: asInstant(first),
    lastAt: asInstant(last),
  }));
  return { items, hasMore: rows.length > limit };
}

/** Numbers of the connections that were asked, so that two of them never give the same sequence. */
const connections = new WeakMap<Database, number>();
let connected = 0;

/**
 * A text that changes with every commit of another connection, in this process or elsewhere. The writer is another connection
 * than the one that reads.
 * @param opening differs for each process
 */
function changeSequence(database: Database, opening: string): string {
  let number = connections.get(database);
  if (number === undefined) {
    connected += 1;
    number = connected;
    connections.set(database, number);
  }
  return `${opening}-${number}-${ask<number>(database, "PRAGMA data_version") ?? 0}`;
}

/** The files of a pack, and what an owner has in it. */
export function readStoreState(
  database: Database,
  of: Owner,
  given: { readonly isEncrypted: boolean; readonly opening: string },
): StoreState {
  const owner = ownerKeyOrAll(database, of);
  const isAll = owner !== undefined && isEverybody(owner);
  const rows = database
    .query<{ state: LifecycleState; count: number }, Parameter[]>(
      `SELECT lifecycle_state AS state, count(*) AS count FROM nodes ${isAll ? "" : "WHERE owner = ?"} GROUP BY 1`,
    )
    .all(...(isAll ? [] : [owner ?? null]));
  const userId = userIdOf(of);
  return {
    changeSequence: changeSequence(database, given.opening),
    bytes: bytesOf(database),
    isEncrypted: given.isEncrypted,
    states: Object.fromEntries(rows.map(({ state, count }) => [state, count])),
    receipts:
      userId === null
        ? countRows(database, "receipts")
        : countRows(database, "receipts WHERE user_id = ?", userId),
  };
}

/** Of all files of the pack. */
function bytesOf(database: Database): number {
  const files = database.query<{ name: string }, []>("PRAGMA database_list").all();
  return files
    .map(({ name }) => {
      const pages = ask<number>(database, `PRAGMA ${name}.page_count`) ?? 0;
      return pages * (ask<number>(database, `PRAGMA ${name}.page_size`) ?? 0);
    })
    .reduce((sum, bytes) => sum + bytes, 0);
}
