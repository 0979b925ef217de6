import { edgeRecord } from "../../domain/edge.ts";
import { SvcError } from "../../domain/errors.ts";
import { requireStep } from "../../domain/lifecycle.ts";
import { type MemoryNode, nodeRecord } from "../../domain/node.ts";
import type { ChangeSnapshot, Decision } from "../../ports/store/changes.ts";
import { edgeOf } from "./new-edge.ts";
import {
  contradictionBetween,
  type DatedPairRequest,
  isRecorded,
  type Pair,
  type PairChange,
  pairEntry,
} from "./pair.ts";

/** Marks two claims as contradicting each other. While both are contested, doing it again changes nothing. */
export const CONTRADICT: PairChange = {
  action: "contradict",
  fields: ["node_a_id", "node_b_id"],
  idKind: "svc:contradiction:v1",
  isRepeated: (snapshot, pair, request) => {
    const stands =
      pair.every(({ lifecycleState }) => lifecycleState === "contested") &&
      contradictionBetween(snapshot, pair) !== undefined;
    return isRecorded(CONTRADICT, snapshot, pair, request, stands);
  },
  decide,
};

function decide(snapshot: ChangeSnapshot, pair: Pair, request: DatedPairRequest): Decision<Pair> {
  const [firstBefore, secondBefore] = pair;
  const first = contested(firstBefore, request);
  const second = contested(secondBefore, request);
  if (contradictionBetween(snapshot, pair) !== undefined) {
    throw new SvcError(
      "invalid_transition",
      `contradict: memories ${first.id} and ${second.id} contradicted each other before; that cannot be marked twice`,
      { action: CONTRADICT.action, id: first.id },
    );
  }
  const edge = edgeOf(request, "contradicts", second, first);
  const record = {
    policy: "explicit_contradiction_v1",
    before: { node_a: nodeRecord.to(firstBefore), node_b: nodeRecord.to(secondBefore) },
    after: { node_a: nodeRecord.to(first), node_b: nodeRecord.to(second) },
    edge: edgeRecord.to(edge),
  };
  const operation = pairEntry("CONTRADICTION_NOTED", first, request, record, {
    node_a_id: first.id,
    node_b_id: second.id,
    evidence_event_id: request.evidenceId ?? null,
  });
  return {
    change: { nodes: [first, second], edges: [edge], auditRecords: [operation] },
    result: [first, second],
  };
}

function contested(before: MemoryNode, { at }: DatedPairRequest): MemoryNode {
  return { ...before, lifecycleState: requireStep("contradict", before), updatedAt: at };
}
