import { z } from "zod";
import { missingNode } from "../../../domain/errors.ts";
import { LIMITS } from "../../../domain/limits.ts";
import { uuidIn } from "../core/fields.ts";
import { defineOperation } from "../core/operation.ts";
import { READS, readLimit, readUuid } from "../core/operation-parts.ts";
import { parseWire } from "../core/wire-issues.ts";
import { tellProvenance } from "./provenance-text.ts";
import { provenanceView } from "./provenance-wire.ts";

const PAGE = [1, LIMITS.operationPageMax] as const;
const DEFAULT_PAGE = 100;

const toolSchema = z.strictObject({
  node_id: uuidIn,
  operation_cursor: z.string().nullish().meta({ description: "next_operation_cursor." }),
  operation_limit: z.int().nullish().meta({ default: DEFAULT_PAGE }),
});

type ProvenanceRequest = {
  readonly nodeId: string;
  readonly operationCursor: string | undefined;
  readonly operationLimit: number;
};

export const provenanceOperation = defineOperation({
  name: "get_provenance",
  summary: "Read where a memory comes from",
  description:
    "The memory with its source events, its contradictions, and what was done to it: operations oldest first, page by page.",
  run: async ({ engine, caller }, input: ProvenanceRequest) => {
    const id = readUuid(input.nodeId, "node_id");
    const provenance = await engine().getProvenance(id, {
      userId: caller.boundUserId,
      operationCursor: input.operationCursor,
      operationLimit: input.operationLimit,
    });
    if (provenance === undefined) throw missingNode(id);
    return provenance;
  },
  http: {
    method: "get",
    path: "/v1/nodes/{node_id}/provenance",
    request: {
      params: z.object({ node_id: uuidIn }),
      query: z.object({
        operation_cursor: z.string().optional().meta({
          description: "next_operation_cursor of the page before.",
        }),
        operation_limit: z
          .int()
          .min(PAGE[0])
          .max(PAGE[1])
          .optional()
          .meta({ default: DEFAULT_PAGE }),
      }),
    },
    response: provenanceView,
    statuses: [404],
    read: ({ params, query }) => ({
      nodeId: params["node_id"] ?? "",
      operationCursor: query["operation_cursor"],
      operationLimit:
        query["operation_limit"] === undefined
          ? DEFAULT_PAGE
          : readLimit(query["operation_limit"], PAGE, "operation_limit"),
    }),
  },
  mcp: {
    tool: "memory_get_provenance",
    title: "Where a memory comes from",
    description:
      "Read what a memory was made from and what was done to it: its sources word for word, contradictions, and changes oldest first. " +
      "Use it to judge a doubtful memory or to answer `how do you know?`.",
    toolSet: "full",
    annotations: READS,
    input: toolSchema,
    output: provenanceView,
    needsOwner: false,
    read: (args) => {
      const wire = parseWire(toolSchema, args, "arguments");
      return {
        nodeId: wire.node_id,
        operationCursor: wire.operation_cursor ?? undefined,
        operationLimit: wire.operation_limit ?? DEFAULT_PAGE,
      };
    },
    tell: tellProvenance,
  },
});
