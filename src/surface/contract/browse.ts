import { z } from "zod";
import { LIMITS, parseId } from "../../domain/arguments.ts";
import {
  EDGE_TYPES,
  EPISTEMIC_TYPES,
  LIFECYCLE_STATES,
  NODE_TYPES,
  SCOPES,
  SOURCE_TYPES,
} from "../../domain/enums.ts";
import { missingNode } from "../../domain/errors.ts";
import { edgeForm, nodeForm } from "../../domain/node.ts";
import { OVERVIEW_PARTS } from "../../domain/overview.ts";
import {
  BROWSE_ORDERS,
  CHANGE_KINDS,
  type ChangeFeed,
  CLOCKS,
  CONTRADICTION_STATUSES,
  type Facet,
  type Facets,
  type ListedEntities,
  type NodeBatch,
  type NotedContradiction,
  type Timeline,
} from "../../engine/browse/api.ts";
import type { Overview } from "../../engine/overview.ts";
import {
  dictionary,
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
} from "../../lib/form.ts";
import { BUCKETS } from "../../lib/local-dates.ts";
import {
  afterId,
  choiceInQuery,
  choicesInQuery,
  cursor,
  id,
  instantInQuery,
  owner,
  ownerInQuery,
  textInQuery,
  textsInQuery,
  uuidIn,
  wholeNumber,
} from "./core/fields.ts";
import { defineOperation, found, part, READS } from "./core/operation.ts";
import { httpField, overHttp, parsed } from "./core/request.ts";
import { nextCursor, nextId, onPage, operationView, pageView } from "./nodes.ts";

const browsedView = pageView("BrowsedPage", "nodes", nodeForm, nextCursor);

const timelineView = noted(
  view<Timeline>()({
    buckets: list(
      object<Timeline["buckets"][number]>({
        from: noted(text, { description: "The first day, YYYY-MM-DD, in the time zone." }),
        count: natural,
        byState: dictionary(natural),
      }),
    ),
    count: told(onPage, ({ buckets }) => buckets.length),
    total: noted(natural, { description: "Of all memories that pass the filters." }),
    bucket: member(BUCKETS),
    timeZone: text,
  }),
  { id: "Timeline" },
);

const facet = noted(list(object<Facet[number]>({ value: text, count: natural })), { id: "Facet" });

const facetsView = noted(
  object<Facets>({
    total: natural,
    nodeType: facet,
    lifecycleState: facet,
    scope: facet,
    sourceType: facet,
    epistemicType: facet,
  }),
  { id: "Facets", description: "Each property is counted without its own filter." },
);

const nodeBatchView = noted(
  object<NodeBatch>({
    nodes: noted(list(nodeForm), { description: "In the order of the ids." }),
    missing: noted(list(uuid), { description: "Ids of no memory of this owner." }),
    leftOut: noted(list(uuid), {
      description: "Ids that were not read because the answer would be too long.",
    }),
  }),
  { id: "NodeBatch" },
);

const edgePageView = pageView("EdgePage", "edges", edgeForm, nextId);

const countedEntityView = noted(
  object<ListedEntities["entities"][number]>({
    node: nodeForm,
    memories: noted(natural, {
      description: "Active memories one edge away, other entities left out.",
    }),
    contested: noted(natural, { description: "How many of them are contested." }),
  }),
  { id: "CountedEntity" },
);

const entityPageView = pageView("EntityPage", "entities", countedEntityView, nextCursor);

const contradictionView = noted(
  view<NotedContradiction>()({
    edgeId: uuid,
    notedAt: instant,
    actor: noted(nullable(text), { description: "Who noted it." }),
    status: noted(member(CONTRADICTION_STATUSES), {
      description: "Open while both are contested.",
    }),
    nodeA: noted(nodeForm, { description: "The one that was named first." }),
    nodeB: nodeForm,
  }),
  { id: "NotedContradiction" },
);

const contradictionPageView = pageView(
  "ContradictionPage",
  "contradictions",
  contradictionView,
  nextId,
);

const changePageView = pageView("ChangePage", "operations", operationView, nextCursor);

const changeFeedView = noted(
  view<ChangeFeed>()({
    changes: list(
      noted(
        object<ChangeFeed["changes"][number]>({
          cursor: noted(text, { description: "since of a call that goes on after this change." }),
          at: instant,
          change: noted(member(CHANGE_KINDS), {
            description: "changed: another active state, such as contested.",
          }),
          nodeId: uuid,
          state: noted(nullable(member(LIFECYCLE_STATES)), { description: "Afterwards." }),
          node: noted(nullable(nodeForm), {
            description: "As it is now; null if it has been forgotten since.",
          }),
        }),
        { id: "FeedChange" },
      ),
    ),
    count: told(onPage, ({ changes }) => changes.length),
    hasMore: flag,
    nextCursor: noted(text, { description: "since of the next call, also if nothing changed." }),
  }),
  { id: "ChangeFeed" },
);

const limit = wholeNumber([1, LIMITS.nodeQueryMax], 100);

/** Filters for browsing memories. */
const filters = {
  user_id: ownerInQuery,
  clock: choiceInQuery(CLOCKS, {
    default: "learned",
    description:
      "learned: when it was stored; happened: when what it tells happened, else when it was stored.",
  }),
  node_type: overHttp("type", choiceInQuery(NODE_TYPES)),
  lifecycle_states: overHttp(
    "state",
    choicesInQuery(LIFECYCLE_STATES, "May be repeated. Absent: the active ones."),
  ),
  scopes: overHttp("scope", choicesInQuery(SCOPES, "May be repeated. Absent: all.")),
  source_types: overHttp(
    "source_type",
    choicesInQuery(SOURCE_TYPES, "May be repeated. Absent: all."),
  ),
  epistemic_types: overHttp(
    "epistemic_type",
    choicesInQuery(EPISTEMIC_TYPES, "May be repeated. Absent: all."),
  ),
  session_id: textInQuery("Of this conversation."),
  valid_at: instantInQuery("Valid at this moment."),
  time_from: instantInQuery("At or after this moment, by the clock."),
  time_to: instantInQuery("Before this moment, by the clock."),
  expires_before: instantInQuery("Whose retention ends before this moment."),
  contains: textInQuery("A literal part of the text; case is ignored."),
};

export const browseOperation = defineOperation({
  name: "browse_nodes",
  summary: "Look through memories by time",
  description: "Newest first, page by page; follow next_cursor until has_more is false.",
  request: {
    ...filters,
    order: choiceInQuery(BROWSE_ORDERS, { default: "newest" }),
    cursor,
    limit,
  },
  run: async ({ engine }, query) => engine().browse(query),
  answer: browsedView,
  http: { route: "get /v1/nodes/browse" },
});

const timelineOperation = defineOperation({
  name: "timeline",
  summary: "Count memories by day, week or month",
  description: "Newest first; days without any memory are left out.",
  request: {
    ...filters,
    bucket: choiceInQuery(BUCKETS, { default: "day", description: "Weeks begin on Monday." }),
    time_zone: httpField(
      z
        .string()
        .optional()
        .meta({
          default: "UTC",
          description: "Whose days, by its IANA name.",
          examples: ["Europe/Berlin"],
        }),
    ),
  },
  run: async ({ engine }, query) => engine().timeline(query),
  answer: timelineView,
  http: { route: "get /v1/timeline" },
});

const facetsOperation = defineOperation({
  name: "facets",
  summary: "Count memories by their properties",
  description:
    "How many memories have each type, state, scope, source and kind of knowledge. Each property is counted without its own filter.",
  request: filters,
  run: async ({ engine }, query) => engine().facets(query),
  answer: facetsView,
  http: { route: "get /v1/facets" },
});

const batchOperation = defineOperation({
  name: "get_nodes",
  summary: "Read several memories",
  description: "In whatever state they are. Ids of other owners are missing ones.",
  request: {
    node_ids: parsed(
      httpField(z.array(uuidIn).max(LIMITS.nodeBatchMax).meta({ description: "In any state." })),
      (ids, name) => ids.map((one, index) => parseId(one, `${name}[${index}]`)),
    ),
    user_id: owner,
  },
  run: async ({ engine }, { nodeIds, userId }) => engine().getNodes(nodeIds, userId),
  answer: nodeBatchView,
  http: { route: "post /v1/nodes/batch", body: "NodeBatchRequest" },
});

const edgesOperation = defineOperation({
  name: "get_node_edges",
  summary: "Read the edges at a memory",
  description: "In both directions, by ascending id.",
  request: {
    node_id: id(),
    edge_type: overHttp("type", choiceInQuery(EDGE_TYPES)),
    after_id: afterId(),
    limit,
  },
  run: async ({ engine, userId }, { nodeId, ...query }) =>
    found(engine().getNodeEdges(nodeId, { ...query, userId }), () => missingNode(nodeId)),
  answer: edgePageView,
  http: { route: "get /v1/nodes/{node_id}/edges", statuses: [404] },
});

const entitiesOperation = defineOperation({
  name: "list_entities",
  summary: "List people and things",
  description:
    "Active memories of type entity, those with the most memories first. Counted are the active memories one edge away, other entities left out.",
  request: {
    user_id: ownerInQuery,
    contains: textInQuery("A literal part of the name; case is ignored."),
    cursor,
    limit,
  },
  run: async ({ engine }, query) => engine().listEntities(query),
  answer: entityPageView,
  http: { route: "get /v1/entities" },
});

const contradictionsOperation = defineOperation({
  name: "list_contradictions",
  summary: "List contradictions",
  description: "Pairs of memories of which not both can be true, oldest first.",
  request: {
    user_id: ownerInQuery,
    status: choiceInQuery(CONTRADICTION_STATUSES, {
      description: "open: both are contested. Absent: all that were noted.",
    }),
    after_id: afterId("edge_id of the last pair of the page before."),
    limit,
  },
  run: async ({ engine }, query) => engine().listContradictions(query),
  answer: contradictionPageView,
  http: { route: "get /v1/contradictions" },
});

const changesOperation = defineOperation({
  name: "list_operations",
  summary: "List changes of memories",
  description: "What was done to memories and by whom, newest first; events tell what was stored.",
  request: {
    user_id: ownerInQuery,
    op_types: overHttp(
      "type",
      textsInQuery("Kind of the change, such as LIFECYCLE_CHANGED. May be repeated. Absent: all."),
    ),
    actor_id: overHttp("actor", textInQuery("Who made the change.")),
    time_from: instantInQuery("At or after this moment."),
    time_to: instantInQuery("Before this moment."),
    cursor,
    limit,
  },
  run: async ({ engine }, query) => engine().listChanges(query),
  answer: changePageView,
  http: { route: "get /v1/operations" },
});

/** Also an endless answer; see `surface/http/change-stream.ts`. */
export const feedOperation = defineOperation({
  name: "changes",
  summary: "Follow what becomes of memories",
  description:
    "Stored, changed, replaced, restored and forgotten memories in the order of the commits, none left out; a forgotten one without its text. " +
    "With `Accept: text/event-stream` the answer goes on as server-sent events, each with its cursor as id; `Last-Event-ID` continues after it.",
  request: {
    user_id: ownerInQuery,
    since: textInQuery("next_cursor of the answer before, or now. Absent: from the beginning."),
    limit,
  },
  run: async ({ engine }, query) => engine().changes(query),
  answer: changeFeedView,
  http: { route: "get /v1/changes" },
});

/** Operations for browsing memories. Their paths precede those of one memory, which would match them. */
const profileView = noted(
  object<Overview>({
    entries: list(
      noted(
        object<Overview["entries"][number]>({
          part: member(OVERVIEW_PARTS),
          name: noted(nullable(text), { description: "Of a person or thing." }),
          memories: noted(nullable(natural), { description: "How many memories name it." }),
          text: noted(text, { description: "At most 160 characters of the memory." }),
          nodeId: uuid,
          at: noted(instant, { description: "When it was said." }),
        }),
        { id: "ProfileEntry" },
      ),
    ),
    text: noted(text, { description: "The entries as lines; empty if nothing is known." }),
    tokens: noted(natural, { description: "Of the text." }),
    leftOut: noted(natural, { description: "Entries that did not fit." }),
  }),
  { id: "Profile" },
);

/** What is known of a person at a glance. */
export const profileOperation = defineOperation({
  name: "profile",
  summary: "Read what is known of a person at a glance",
  description:
    "Standing instructions, preferences, facts, people and things, decisions and open tasks, in at most max_tokens tokens, without a model. What a later memory replaces is left out.",
  request: {
    user_id: ownerInQuery,
    scopes: overHttp("scope", choicesInQuery(SCOPES, "Only of these scopes; may be repeated.")),
    max_tokens: wholeNumber([0, 10_000], 500),
  },
  run: async ({ engine }, query) => engine().overview(query),
  answer: profileView,
  http: { route: "get /v1/profile" },
  mcp: {
    tool: "memory_overview",
    title: "What is known of the user",
    description:
      "Read the user's standing instructions, preferences, facts, people, decisions and open tasks at a glance. " +
      "Use it at the start of a conversation, or for `what do you know about me?`; for anything specific use memory_retrieve.",
    toolSet: "core",
    silentArguments: ["max_tokens"],
    annotations: READS,
    tell: ({ text: lines }) => (lines === "" ? "Nothing is known yet." : lines),
  },
});

export const BROWSE_OPERATIONS = part(
  "nodes",
  browseOperation,
  timelineOperation,
  facetsOperation,
  batchOperation,
  edgesOperation,
  entitiesOperation,
  contradictionsOperation,
  changesOperation,
  feedOperation,
  profileOperation,
);
