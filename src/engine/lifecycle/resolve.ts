import { checksummed } from "../../domain/checksummed.ts";
import { type Edge, edgeRecord } from "../../domain/edge.ts";
import { SvcError } from "../../domain/errors.ts";
import { requireStep } from "../../domain/lifecycle.ts";
import { type MemoryNode, nodeRecord } from "../../domain/node.ts";
import { uuidV5 } from "../../lib/uuid.ts";
import type { AuditRecord } from "../../ports/store/audit-record.ts";
import type { ChangeSnapshot, Decision } from "../../ports/store/changes.ts";
import type { ClaimsOptions } from "./api.ts";
import { logEntry } from "./log-entry.ts";
import {
  changePair,
  contradictionBetween,
  type DatedPairRequest,
  type Pair,
  type PairKind,
  type PairRequest,
  parsePair,
  recordedBefore,
  requireKinship,
  requirePair,
  sameInputs,
} from "./pair.ts";
import type { ChangeDeps } from "./request-keys.ts";

const RESOLUTION = "CONTRADICTION_RESOLVED";
const TRANSITION = "EPISTEMIC_TRANSITION";
const KIND: PairKind = {
  action: "resolve",
  fields: ["winner_id", "loser_id"],
  idKind: "svc:contradiction-resolution:v1",
};

/**
 * Ends a contradiction in favour of one claim. A retry while the claims are still in the resulting state changes nothing.
 * @returns winner, then loser
 * @throws SvcError not_found; invalid_argument; invalid_transition; request_conflict
 */
export async function resolveContradiction(
  deps: ChangeDeps,
  winnerId: string,
  loserId: string,
  options: ClaimsOptions = {},
): Promise<Pair> {
  return changePair(deps, KIND, parsePair(KIND, [winnerId, loserId], options), decideResolve);
}

function decideResolve(snapshot: ChangeSnapshot, request: DatedPairRequest): Decision<Pair> {
  const pair = requirePair(KIND, snapshot, request);
  if (isRepeated(snapshot, pair, request)) return { change: undefined, result: pair };
  requireKinship(KIND, snapshot, pair, request.evidenceId);
  const [winnerBefore, loserBefore] = pair;
  const { at } = request;
  const winner: MemoryNode = {
    ...winnerBefore,
    lifecycleState: requireStep("win", winnerBefore),
    updatedAt: at,
  };
  const loser: MemoryNode = {
    ...loserBefore,
    lifecycleState: requireStep("lose", loserBefore),
    updatedAt: at,
  };
  const edge = contradictionBetween(snapshot, pair);
  if (edge === undefined) {
    throw new SvcError(
      "invalid_transition",
      `resolve: memories ${winner.id} and ${loser.id} are contested, but not with each other`,
      { action: KIND.action, id: winner.id },
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
  return logEntry(TRANSITION, after, {
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
  after: Pair,
  edge: Edge,
  request: DatedPairRequest,
): AuditRecord {
  const { operationId, actorId, evidenceId, at } = request;
  const [winner, loser] = after;
  const record = checksummed({
    version: 1,
    policy: "explicit_contradiction_resolution_v1",
    operation_id: operationId,
    actor_id: actorId,
    evidence_id: evidenceId ?? null,
    before: { winner: nodeRecord.to(before[0]), loser: nodeRecord.to(before[1]) },
    after: { winner: nodeRecord.to(winner), loser: nodeRecord.to(loser) },
    edge: edgeRecord.to(edge),
  });
  const payload = {
    ...record,
    winner_id: winner.id,
    loser_id: loser.id,
    evidence_event_id: evidenceId ?? null,
  };
  return logEntry(RESOLUTION, winner, { id: operationId, actorId, at, payload });
}

/** @throws SvcError invalid_transition if it was resolved before, but with different input, or the result no longer stands */
function isRepeated({ auditRecords }: ChangeSnapshot, pair: Pair, request: PairRequest): boolean {
  const earlier = auditRecords.get(request.operationId) ?? auditRecords.get(request.reverseId);
  if (earlier === undefined) return false;
  const [winner, loser] = pair;
  const stands =
    earlier.id === request.operationId &&
    winner.lifecycleState === "stable" &&
    loser.lifecycleState === "deprecated";
  if (stands && sameInputs(earlier, request)) return true;
  throw recordedBefore(KIND, pair, earlier);
}
