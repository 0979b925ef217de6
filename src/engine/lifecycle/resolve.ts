import { type Edge, edgeRecord } from "../../domain/edge.ts";
import { SvcError } from "../../domain/errors.ts";
import { requireStep } from "../../domain/lifecycle.ts";
import { type MemoryNode, nodeRecord } from "../../domain/node.ts";
import { uuidV5 } from "../../lib/new-uuid.ts";
import type { AuditRecord } from "../../ports/store/audit-record.ts";
import type { ChangeSnapshot, Decision } from "../../ports/store/changes.ts";
import { logEntry } from "./log-entry.ts";
import {
  contradictionBetween,
  type DatedPairRequest,
  isRecorded,
  type Pair,
  type PairChange,
  pairEntry,
} from "./pair.ts";

/** Ends a contradiction in favour of the first. While both are in the resulting states, doing it again changes nothing. */
export const RESOLVE: PairChange = {
  action: "resolve",
  fields: ["winner_id", "loser_id"],
  idKind: "svc:contradiction-resolution:v1",
  isRepeated: (snapshot, pair, request) => {
    const [winner, loser] = pair;
    const stands = winner.lifecycleState === "stable" && loser.lifecycleState === "deprecated";
    return isRecorded(RESOLVE, snapshot, pair, request, stands);
  },
  decide,
};

function decide(snapshot: ChangeSnapshot, pair: Pair, request: DatedPairRequest): Decision<Pair> {
  const [winnerBefore, loserBefore] = pair;
  const { at: updatedAt } = request;
  const winner = { ...winnerBefore, lifecycleState: requireStep("win", winnerBefore), updatedAt };
  const loser = { ...loserBefore, lifecycleState: requireStep("lose", loserBefore), updatedAt };
  const edge = contradictionBetween(snapshot, pair);
  if (edge === undefined) {
    throw new SvcError(
      "invalid_transition",
      `resolve: memories ${winner.id} and ${loser.id} are contested, but not with each other`,
      { action: RESOLVE.action, id: winner.id },
    );
  }
  const auditRecords = [
    transitionEntry("winner", winnerBefore, winner, request),
    transitionEntry("loser", loserBefore, loser, request),
    resolutionEntry(pair, [winner, loser], edge, request),
  ];
  return { change: { nodes: [winner, loser], edges: [], auditRecords }, result: [winner, loser] };
}

function transitionEntry(
  part: "winner" | "loser",
  before: MemoryNode,
  after: MemoryNode,
  { operationId, actorId, evidenceId, at }: DatedPairRequest,
): AuditRecord {
  return logEntry("EPISTEMIC_TRANSITION", after, {
    id: uuidV5(operationId, part),
    actorId,
    at,
    payload: {
      from_state: before.lifecycleState,
      to_state: after.lifecycleState,
      reason: `contradiction_resolved_${part}`,
      evidence_event_id: evidenceId ?? null,
    },
  });
}

function resolutionEntry(
  before: Pair,
  [winner, loser]: Pair,
  edge: Edge,
  request: DatedPairRequest,
): AuditRecord {
  const record = {
    policy: "explicit_contradiction_resolution_v1",
    before: { winner: nodeRecord.to(before[0]), loser: nodeRecord.to(before[1]) },
    after: { winner: nodeRecord.to(winner), loser: nodeRecord.to(loser) },
    edge: edgeRecord.to(edge),
  };
  return pairEntry("CONTRADICTION_RESOLVED", winner, request, record, {
    winner_id: winner.id,
    loser_id: loser.id,
    evidence_event_id: request.evidenceId ?? null,
  });
}
