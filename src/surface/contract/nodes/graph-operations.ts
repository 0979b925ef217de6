import { z } from "zod";
import {
  ACTIVE_STATES,
  LIFECYCLE_STATES,
  NODE_TYPES,
  parseMember,
  SCOPES,
} from "../../../domain/enums.ts";
import { missingNode } from "../../../domain/errors.ts";
import { LIMITS } from "../../../domain/limits.ts";
import { nodeForm } from "../../../domain/node.ts";
import type { ChainOptions, ScanPage, ScanQuery } from "../../../engine/inspect/api.ts";
import { constant, flag, list, natural, nullable, uuid } from "../../../lib/form.ts";
import { noted, told, view } from "../../../lib/view.ts";
import { requireOwner } from "../core/caller.ts";
import {
  lifecycleState,
  lifecycleStateText,
  nodeType,
  nodeTypeText,
  scope,
  scopeText,
  userIdIn,
  uuidIn,
} from "../core/fields.ts";
import { defineOperation, type HttpParts, type Operation } from "../core/operation.ts";
import { ownerQuery, present, READS, readLimit, readUuid } from "../core/operation-parts.ts";
import { parseWire } from "../core/wire-issues.ts";
import { tellScan } from "./text.ts";
import { nodeListView } from "./wire.ts";

const PAGE = [1, LIMITS.scanPageMax] as const;
const DEFAULT_PAGE = 100;
const HOPS = [1, LIMITS.neighborhoodHops] as const;
const DEFAULT_HOPS = 2;
const DIRECTIONS = ["forward", "backward"] as const;

const nodePath = z.object({ node_id: uuidIn });

const pageView = noted(
  view<ScanPage>()({
    nodes: list(nodeForm),
    count: told(
      noted(natural, { description: "Of the nodes in this page." }),
      ({ nodes }) => nodes.length,
    ),
    hasMore: flag,
    nextCursor: noted(nullable(uuid), {
      description: "Pass it as after_id for the next page; null on the last one.",
    }),
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

type ScanWire = Omit<ScanQuery, "userId"> & { readonly userId: string | null | undefined };

const scanToolSchema = z.strictObject({
  user_id: userIdIn,
  scope: scopeText.nullish(),
  node_type: nodeTypeText.nullish(),
  lifecycle_states: z
    .array(lifecycleStateText)
    .nullish()
    .meta({ default: [...ACTIVE_STATES] }),
  after_id: uuidIn.nullish().meta({ description: "next_cursor of the page before." }),
  limit: z.int().nullish().meta({ minimum: PAGE[0], maximum: PAGE[1], default: DEFAULT_PAGE }),
});

const scanNodesOperation = defineOperation({
  name: "scan_nodes",
  summary: "Read all memories of an owner, page by page",
  description:
    "By ascending id; follow next_cursor until has_more is false. Complete for an unchanged store. States: the active ones, or those that are named.",
  run: async ({ engine, caller }, late: () => ScanWire) => {
    const query = late();
    return await engine().scanNodes({ ...query, userId: requireOwner(caller, query.userId) });
  },
  http: {
    method: "get",
    path: "/v1/nodes/scan",
    request: {
      query: z.object({
        user_id: ownerQuery,
        scope: scope.optional(),
        type: nodeType.optional(),
        state: z.array(lifecycleState).optional().meta({
          description: "May be repeated. Absent: the active ones.",
        }),
        after_id: uuidIn.optional().meta({ description: "Begin behind this id." }),
        limit: z.int().min(PAGE[0]).max(PAGE[1]).optional().meta({ default: DEFAULT_PAGE }),
      }),
    },
    response: pageView,
    statuses: [],
    read: (parts) => {
      const query = readScan(parts);
      return () => query;
    },
  },
  mcp: {
    tool: "memory_scan_nodes",
    title: "List memories",
    description:
      "List all memories page by page, by id: for reviews and overviews, such as the contested ones. To answer a question use memory_retrieve.",
    toolSet: "full",
    annotations: READS,
    input: scanToolSchema,
    output: pageView,
    needsOwner: true,
    read: (args) => {
      const wire = parseWire(scanToolSchema, args, "arguments");
      return () => toScan(wire);
    },
    tell: tellScan,
    search: {
      isEmpty: ({ nodes }) => nodes.length === 0,
      owner: (late) => late().userId,
    },
  },
});

function toScan(wire: z.infer<typeof scanToolSchema>): ScanWire {
  return {
    userId: wire.user_id,
    scope: present(wire.scope, (value) => parseMember(SCOPES, value, "scope")),
    nodeType: present(wire.node_type, (value) => parseMember(NODE_TYPES, value, "node_type")),
    lifecycleStates: wire.lifecycle_states?.map((state) =>
      parseMember(LIFECYCLE_STATES, state, "lifecycle_states"),
    ),
    afterId: wire.after_id,
    limit: wire.limit,
  };
}

function readScan({ query, queryLists }: HttpParts): ScanWire {
  const { scope: inScope, type, after_id: afterId, limit } = query;
  return {
    userId: query["user_id"],
    scope: inScope === undefined ? undefined : parseMember(SCOPES, inScope, "scope"),
    nodeType: type === undefined ? undefined : parseMember(NODE_TYPES, type, "type"),
    lifecycleStates: queryLists["state"]?.map((state) =>
      parseMember(LIFECYCLE_STATES, state, "state"),
    ),
    afterId: afterId === undefined ? undefined : readUuid(afterId, "after_id"),
    limit: limit === undefined ? DEFAULT_PAGE : readLimit(limit, PAGE),
  };
}

const neighborhoodOperation = defineOperation({
  name: "neighborhood",
  summary: "Read the memories around one",
  description: `The active memories within max_hops edges, in either direction, nearest first. Inactive ones are passed through. The walk visits at most ${LIMITS.neighborhoodVisited} memories.`,
  run: async ({ engine, caller }, input: { readonly nodeId: string; readonly maxHops: number }) => {
    const id = readUuid(input.nodeId, "node_id");
    const { maxHops } = input;
    const nodes = await engine().neighborhood(id, { userId: caller.boundUserId, maxHops });
    if (nodes === undefined) throw missingNode(id);
    return nodes;
  },
  http: {
    method: "get",
    path: "/v1/nodes/{node_id}/neighborhood",
    request: {
      params: nodePath,
      query: z.object({
        max_hops: z.int().min(HOPS[0]).max(HOPS[1]).optional().meta({ default: DEFAULT_HOPS }),
      }),
    },
    response: nodeListView,
    statuses: [404],
    read: ({ params, query }) => ({
      nodeId: params["node_id"] ?? "",
      maxHops:
        query["max_hops"] === undefined
          ? DEFAULT_HOPS
          : readLimit(query["max_hops"], HOPS, "max_hops"),
    }),
  },
});

const chainOperation = defineOperation({
  name: "chain",
  summary: "Read what replaced a memory, or what it replaced",
  description: `Nearest first, in any state, at most ${LIMITS.chainSteps} memories.`,
  run: async (
    { engine, caller },
    input: { readonly nodeId: string; readonly direction: ChainOptions["direction"] },
  ) => {
    const id = readUuid(input.nodeId, "node_id");
    const { direction } = input;
    const nodes = await engine().chain(id, { userId: caller.boundUserId, direction });
    if (nodes === undefined) throw missingNode(id);
    return nodes;
  },
  http: {
    method: "get",
    path: "/v1/nodes/{node_id}/chain",
    request: {
      params: nodePath,
      query: z.object({
        direction: z.enum(DIRECTIONS).optional().meta({
          default: "forward",
          description: "forward: what replaced it; backward: what it replaced.",
        }),
      }),
    },
    response: nodeListView,
    statuses: [404],
    read: ({ params, query }) => ({
      nodeId: params["node_id"] ?? "",
      direction: parseMember(DIRECTIONS, query["direction"] ?? "forward", "direction"),
    }),
  },
});

/** Walks over memories. `scan_nodes` must precede the operations on one memory, whose paths match its own. */
export const GRAPH_OPERATIONS: readonly Operation[] = [
  scanNodesOperation,
  neighborhoodOperation,
  chainOperation,
];
