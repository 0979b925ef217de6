import type { z } from "zod";
import type { MemoryNode } from "../../../domain/node.ts";
import {
  type CallContext,
  defineOperation,
  type McpBinding,
  type Operation,
} from "../core/operation.ts";
import {
  CHANGES,
  callerOf,
  present,
  RETIRES,
  readIdempotencyKey,
  readUuid,
} from "../core/operation-parts.ts";
import { parseWire } from "../core/wire-issues.ts";
import { tellContradicted, tellResolved, tellSuperseded } from "../lifecycle/text.ts";
import {
  changeHeadersSchema,
  contradictBodySchema,
  contradictToolSchema,
  readEvidenceId,
  resolveBodySchema,
  resolveToolSchema,
  supersedeBodySchema,
  supersedeToolSchema,
} from "../lifecycle/wire.ts";
import { nodeListView } from "../nodes/wire.ts";

/** Two ids by their names, and what comes with every change of two memories. */
type PairWire = Readonly<Record<string, string | null | undefined>>;
type PairSchema = z.ZodObject & z.ZodType<PairWire>;
type Pair = readonly [MemoryNode, MemoryNode];

type PairDefinition = Pick<Operation, "name" | "summary" | "description"> & {
  readonly change: "supersede" | "contradict" | "resolveContradiction";
  /** The names of the two ids. */
  readonly ids: readonly [string, string];
  readonly path: string;
  readonly body: PairSchema;
  readonly mcp: Pick<McpBinding, "tool" | "title" | "description" | "toolSet" | "annotations"> & {
    readonly input: PairSchema;
    readonly tell: (pair: Pair) => string;
  };
};

/** A change of two memories, which it answers with. */
function pairOperation({ change, ids, path, body, mcp, ...told }: PairDefinition): Operation {
  return defineOperation({
    ...told,
    run: (context: CallContext, wire: PairWire): Promise<Pair> => {
      const [first, second] = ids;
      return context
        .engine()
        [change](readUuid(wire[first] ?? "", first), readUuid(wire[second] ?? "", second), {
          ...callerOf(context, wire["actor"]),
          evidenceId: readEvidenceId(wire["evidence_id"]),
          requestId: present(wire["request_id"], (text) => readUuid(text, "request_id")),
        });
    },
    http: {
      method: "post",
      path,
      request: { headers: changeHeadersSchema, body },
      response: nodeListView,
      statuses: [404, 409],
      read: (parts) => ({
        ...parseWire(body, parts.body, "body"),
        request_id: readIdempotencyKey(parts.idempotencyKey),
      }),
    },
    mcp: {
      ...mcp,
      output: nodeListView,
      needsOwner: false,
      read: (args) => parseWire(mcp.input, args, "arguments"),
    },
  });
}

/** The operations on two memories at once. */
export const CLAIM_OPERATIONS: readonly Operation[] = [
  pairOperation({
    name: "supersede_node",
    summary: "Replace one memory by another",
    description:
      "The old memory stays in the pack and is no longer found. A retry changes nothing.",
    change: "supersede",
    ids: ["old_node_id", "new_node_id"],
    path: "/v1/supersedences",
    body: supersedeBodySchema,
    mcp: {
      tool: "memory_supersede",
      title: "Replace a memory",
      description:
        "Replace an outdated memory by a newer one of the same scope: store the new one first, then give both ids. " +
        "The old one is no longer found but stays readable. Not for two claims of which neither is known to be right.",
      toolSet: "core",
      annotations: RETIRES,
      input: supersedeToolSchema,
      tell: tellSuperseded,
    },
  }),
  pairOperation({
    name: "contradict_nodes",
    summary: "Mark two memories as contradicting each other",
    description: "Both are found still, as contested. A retry changes nothing.",
    change: "contradict",
    ids: ["node_a_id", "node_b_id"],
    path: "/v1/contradictions",
    body: contradictBodySchema,
    mcp: {
      tool: "memory_mark_contradiction",
      title: "Mark a contradiction",
      description:
        "Mark two memories that cannot both be true, when it is not known which one is. Both become contested and are still found. " +
        "If one is simply outdated use memory_supersede.",
      toolSet: "full",
      annotations: CHANGES,
      input: contradictToolSchema,
      tell: tellContradicted,
    },
  }),
  pairOperation({
    name: "resolve_contradiction",
    summary: "End a contradiction",
    description:
      "The winner becomes stable, the loser deprecated, which is no longer found. A retry changes nothing.",
    change: "resolveContradiction",
    ids: ["winner_id", "loser_id"],
    path: "/v1/contradictions/resolve",
    body: resolveBodySchema,
    mcp: {
      tool: "memory_resolve_contradiction",
      title: "Settle a contradiction",
      description:
        "End a contradiction that was marked, once the user or a source has settled it: the winner becomes stable, the loser is no longer found.",
      toolSet: "full",
      annotations: RETIRES,
      input: resolveToolSchema,
      tell: tellResolved,
    },
  }),
];
