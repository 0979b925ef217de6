import { SCOPES } from "../../../domain/enums.ts";
import { type MemoryEvent, type MemoryNode, nodeForm } from "../../../domain/node.ts";
import type { ListedEvents, ListedSessions } from "../../../engine/browse/api.ts";
import type { ScanPage } from "../../../engine/inspect/api.ts";
import {
  anyObject,
  constant,
  count,
  flag,
  instant,
  list,
  member,
  natural,
  noted,
  nullable,
  object,
  text,
  told,
  uuid,
  view,
} from "../../../lib/form.ts";
import { nextCursor, nextId, onPage } from "../core/page-wire.ts";

/** A complete list, or the start of one. */
export const nodeListView = noted(
  view<readonly MemoryNode[]>()({
    nodes: told(list(nodeForm), (nodes) => nodes),
    count: told(noted(count, { description: "Of the nodes." }), (nodes) => nodes.length),
  }),
  { id: "NodeList" },
);

/** What was said, verbatim; an event never changes, so `updated_at` is its creation. */
export const eventView = noted(
  view<MemoryEvent>()({
    id: uuid,
    userId: text,
    sessionId: nullable(text),
    scope: member(SCOPES),
    createdAt: told(instant, ({ timestamp }) => timestamp),
    updatedAt: told(instant, ({ timestamp }) => timestamp),
    timestamp: noted(instant, { description: "When it was admitted." }),
    eventTime: noted(nullable(instant), { description: "When it happened, by the caller." }),
    role: text,
    content: text,
    contentHash: noted(text, { description: "SHA-256 of the UTF-8 content, hexadecimal." }),
    metadata: nullable(anyObject),
  }),
  { id: "Event", description: "The source text of memories, written once." },
);

/** One page of events by time. */
export const eventPageView = noted(
  view<ListedEvents>()({
    events: list(eventView),
    count: told(onPage, ({ events }) => events.length),
    hasMore: flag,
    nextCursor,
  }),
  { id: "EventPage" },
);

/** One page of conversations. */
export const sessionPageView = noted(
  view<ListedSessions>()({
    sessions: list(
      noted(
        object<ListedSessions["sessions"][number]>({
          sessionId: text,
          firstAt: instant,
          lastAt: instant,
          events: natural,
          memories: noted(natural, { description: "Active ones." }),
        }),
        { id: "Session" },
      ),
    ),
    count: told(onPage, ({ sessions }) => sessions.length),
    hasMore: flag,
    nextCursor,
  }),
  { id: "SessionPage" },
);

/** One page of all memories. */
export const nodePageView = noted(
  view<ScanPage>()({
    nodes: list(nodeForm),
    count: told(
      noted(natural, { description: "Of the nodes in this page." }),
      ({ nodes }) => nodes.length,
    ),
    hasMore: flag,
    nextCursor: nextId,
    order: told(constant("id"), () => "id" as const),
    consistency: told(
      noted(constant("page"), {
        description: "Each page is consistent in itself; all of them are for an unchanged store.",
      }),
      () => "page" as const,
    ),
  }),
  { id: "NodePage" },
);
