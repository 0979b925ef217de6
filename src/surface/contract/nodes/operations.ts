import { z } from "zod";
import { LIFECYCLE_STATES, NODE_TYPES, parseMember } from "../../../domain/enums.ts";
import { missing, missingEvent, missingNode } from "../../../domain/errors.ts";
import { processingStatusForm } from "../../../domain/jobs.ts";
import { LIMITS } from "../../../domain/limits.ts";
import { nodeForm } from "../../../domain/node.ts";
import type { NodeQuery, Stats } from "../../../engine/inspect/api.ts";
import { anyObject, constant, member, natural, object, text } from "../../../lib/form.ts";
import { noted } from "../../../lib/view.ts";
import { optionalOwner } from "../core/caller.ts";
import { count, lifecycleState, nodeType, uuidIn } from "../core/fields.ts";
import { defineOperation } from "../core/operation.ts";
import { anyOwnerQuery, READS, readLimit, readUuid } from "../core/operation-parts.ts";
import { parseWire } from "../core/wire-issues.ts";
import { tellEvent, tellNode } from "./text.ts";
import { eventView, nodeListView } from "./wire.ts";

const nodeToolSchema = z.strictObject({ node_id: uuidIn });
const eventToolSchema = z.strictObject({ event_id: uuidIn });

export const healthOperation = defineOperation({
  name: "health",
  summary: "Whether the server runs",
  description: "Answers without credentials and without looking at the memory.",
  run: async (context) => ({ status: "ok" as const, version: context.version }),
  http: {
    method: "get",
    path: "/v1/health",
    request: {},
    response: noted(object({ status: constant("ok"), version: text }), { id: "Health" }),
    statuses: [],
    isPublic: true,
    read: () => undefined,
  },
});

export const statsOperation = defineOperation({
  name: "stats",
  summary: "How much is stored",
  description: "Counts the active memories and the events, of one owner or of all.",
  run: (context, userId: string | undefined) =>
    context.engine().stats(optionalOwner(context.caller, userId)),
  http: {
    method: "get",
    path: "/v1/stats",
    request: { query: z.object({ user_id: anyOwnerQuery }) },
    response: noted(
      object<Stats>({
        nodeCount: natural,
        eventCount: natural,
        backend: member(["sqlite", "postgres"]),
        details: anyObject,
      }),
      { id: "Stats" },
    ),
    statuses: [],
    read: (parts) => parts.query["user_id"],
  },
});

export const getNodeOperation = defineOperation({
  name: "get_node",
  summary: "Read one memory",
  description: "One memory in whatever state it is, superseded and archived ones included.",
  run: async (context, nodeId: string) => {
    const id = readUuid(nodeId, "node_id");
    const { engine, caller } = context;
    const node = await engine().getNode(id, {
      userId: caller.boundUserId,
      includeSuperseded: true,
    });
    if (node === undefined) throw missingNode(id);
    return node;
  },
  http: {
    method: "get",
    path: "/v1/nodes/{node_id}",
    request: { params: z.object({ node_id: uuidIn }) },
    response: nodeForm,
    statuses: [404],
    read: (parts) => parts.params["node_id"] ?? "",
  },
  mcp: {
    tool: "memory_get_node",
    title: "Read one memory",
    description:
      "Read one memory completely by its id, in any state: validity, source, evidence, what replaced it. " +
      "Use it before you change one; to look for something use memory_retrieve.",
    toolSet: "core",
    annotations: READS,
    input: nodeToolSchema,
    output: nodeForm,
    needsOwner: false,
    read: (args) => parseWire(nodeToolSchema, args, "arguments").node_id,
    tell: tellNode,
    about: ({ id }) => id,
  },
});

export const listNodesOperation = defineOperation({
  name: "list_nodes",
  summary: "List memories",
  description: "The newest active memories first; a state names another kind.",
  run: (context, query: NodeQuery) =>
    context.engine().queryNodes({ ...query, userId: optionalOwner(context.caller, query.userId) }),
  http: {
    method: "get",
    path: "/v1/nodes",
    request: {
      query: z.object({
        type: nodeType.optional(),
        state: lifecycleState.optional().meta({ description: "Absent: the active ones." }),
        user_id: anyOwnerQuery,
        limit: count.max(LIMITS.nodeQueryMax).optional().meta({ default: 50 }),
      }),
    },
    response: nodeListView,
    statuses: [],
    read: ({ query }) => ({
      nodeType:
        query["type"] === undefined ? undefined : parseMember(NODE_TYPES, query["type"], "type"),
      lifecycleStates:
        query["state"] === undefined
          ? undefined
          : [parseMember(LIFECYCLE_STATES, query["state"], "state")],
      userId: query["user_id"],
      limit:
        query["limit"] === undefined ? 50 : readLimit(query["limit"], [0, LIMITS.nodeQueryMax]),
    }),
  },
});

export const getEventOperation = defineOperation({
  name: "get_event",
  summary: "Read one event",
  description: "The source text of memories, exactly as it was given.",
  run: async (context, eventId: string) => {
    const id = readUuid(eventId, "event_id");
    const event = await context.engine().getEvent(id, context.caller.boundUserId);
    if (event === undefined) throw missingEvent(id);
    return event;
  },
  http: {
    method: "get",
    path: "/v1/events/{event_id}",
    request: { params: z.object({ event_id: uuidIn }) },
    response: eventView,
    statuses: [404],
    read: (parts) => parts.params["event_id"] ?? "",
  },
  mcp: {
    tool: "memory_get_event",
    title: "Read a source",
    description:
      "Read the source text behind a memory, word for word as it was given, by an event_id from its evidence_refs.",
    toolSet: "full",
    annotations: READS,
    input: eventToolSchema,
    output: eventView,
    needsOwner: false,
    read: (args) => parseWire(eventToolSchema, args, "arguments").event_id,
    tell: tellEvent,
  },
});

export const processingStatusOperation = defineOperation({
  name: "processing_status",
  summary: "How far an event has been indexed",
  description:
    "Pending or complete, with the number of tries and the category of the last failure.",
  run: async (context, eventId: string) => {
    const id = readUuid(eventId, "event_id");
    const status = await context.engine().processingStatus(id, context.caller.boundUserId);
    if (status === undefined) {
      throw missing("processing_status", id, `Processing status of event '${id}' not found`);
    }
    return status;
  },
  http: {
    method: "get",
    path: "/v1/events/{event_id}/processing-status",
    request: { params: z.object({ event_id: uuidIn }) },
    response: processingStatusForm,
    statuses: [404],
    read: (parts) => parts.params["event_id"] ?? "",
  },
});
