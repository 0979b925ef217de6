import {
  cursorOf,
  parseCursor,
  parseOptionalList,
  parseOptionalMember,
  parseOptionalMembers,
  parseOptionalText,
  parsePageLimit,
  parseSessionId,
  parseText,
  parseUserId,
} from "../../domain/arguments.ts";
import { SCOPES } from "../../domain/enums.ts";
import { invalid } from "../../domain/errors.ts";
import { parseInstantInput } from "../../domain/validity.ts";
import { fromBase64Url, toBase64Url } from "../../lib/base64.ts";
import { parseInstant } from "../../lib/instant.ts";
import type { Activity, Session, SessionPage } from "../../ports/store/activity.ts";
import type { AuditLog } from "../../ports/store/audit-log.ts";
import type { EngineDeps } from "../deps.ts";
import {
  BROWSE_ORDERS,
  type ChangesQuery,
  type EventsQuery,
  type ListedChanges,
  type ListedEvents,
  type ListedSessions,
  type SessionsQuery,
} from "./api.ts";

type ActivityDeps = Pick<EngineDeps<Activity>, "store">;

/** One page of an owner's events by time. @throws SvcError invalid_argument */
export async function listEvents(
  { store }: ActivityDeps,
  query: EventsQuery,
): Promise<ListedEvents> {
  const order = parseOptionalMember(BROWSE_ORDERS, query.order, "order") ?? "newest";
  const { items: events, hasMore } = await store.eventsByTime({
    userId: parseUserId(query.userId),
    sessionId: parseSessionId(query.sessionId),
    scopes: parseOptionalMembers(SCOPES, query.scopes, "scopes"),
    oldestFirst: order === "oldest",
    after: parseCursor(query.cursor),
    limit: parsePageLimit(query.limit),
  });
  const last = hasMore ? events.at(-1) : undefined;
  return { events, hasMore, nextCursor: last && cursorOf({ at: last.timestamp, id: last.id }) };
}

/** One page of the changes of an owner's memories. @throws SvcError invalid_argument */
export async function listChanges(
  { store }: Pick<EngineDeps<AuditLog>, "store">,
  query: ChangesQuery,
): Promise<ListedChanges> {
  const { items: operations, hasMore } = await store.changesOf({
    userId: parseUserId(query.userId),
    opTypes: parseOptionalList(query.opTypes, "op_types")?.map((type) =>
      parseText(type, "op_types"),
    ),
    actorId: parseOptionalText(query.actorId, "actor"),
    timeFrom: parseInstantInput(query.timeFrom, "time_from"),
    timeTo: parseInstantInput(query.timeTo, "time_to"),
    before: parseCursor(query.cursor),
    limit: parsePageLimit(query.limit),
  });
  const last = hasMore ? operations.at(-1) : undefined;
  return {
    operations,
    hasMore,
    nextCursor: last && cursorOf({ at: last.createdAt, id: last.id }),
  };
}

/** One page of an owner's conversations. @throws SvcError invalid_argument */
export async function listSessions(
  { store }: ActivityDeps,
  query: SessionsQuery,
): Promise<ListedSessions> {
  const { items: sessions, hasMore } = await store.sessions({
    userId: parseUserId(query.userId),
    after: parseSessionCursor(query.cursor),
    limit: parsePageLimit(query.limit),
  });
  const last = hasMore ? sessions.at(-1) : undefined;
  return { sessions, hasMore, nextCursor: last && sessionCursor(last) };
}

/** A session has a name of the caller's choice. */
function sessionCursor({ lastAt, sessionId }: Session): string {
  return `${lastAt}_${toBase64Url(sessionId)}`;
}

function parseSessionCursor(value: unknown): SessionPage["after"] {
  const text = parseOptionalText(value, "cursor");
  if (text === undefined) return undefined;
  const [moment = "", name = ""] = text.split(/_(.*)/s);
  const at = parseInstant(moment);
  const sessionId = fromBase64Url(name);
  if (typeof at === "string" || sessionId === undefined) {
    throw invalid("cursor", "is not the next_cursor of a page");
  }
  return { at: at.instant, sessionId };
}
