import { checksummed } from "../../domain/checksummed.ts";
import { edgeRecord } from "../../domain/edge.ts";
import { SvcError } from "../../domain/errors.ts";
import { requireStep } from "../../domain/lifecycle.ts";
import { type MemoryNode, nodeRecord } from "../../domain/node.ts";
import type { ChangeSnapshot, Decision } from "../../ports/store/changes.ts";
import type { ClaimsOptions } from "./api.ts";
import { logEntry } from "./log-entry.ts";
import { edgeOf } from "./new-edge.ts";
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

const OPERATION = "CONTRADICTION_NOTED";
const KIND: PairKind = {
  action: "contradict",
  fields: ["node_a_id", "node_b_id"],
  idKind: "svc:contradiction:v1",
};

/**
 * Marks two claims as contradicting each other. A retry while both are contested changes nothing.
 * @returns both, in the order given
 * @throws SvcError not_found; invalid_argument; invalid_transition; request_conflict
 */
export async function contradict(
  deps: ChangeDeps,
  firstId: string,
  secondId: string,
  options: ClaimsOptions = {},
): Promise<Pair> {
  return changePair(deps, KIND, parsePair(KIND, [firstId, secondId], options), decideContradict);
}

function decideContradict(snapshot: ChangeSnapshot, request: DatedPairRequest): Decision<Pair> {
  const pair = requirePair(KIND, snapshot, request);
  if (isRepeated(snapshot, pair, request)) return { change: undefined, result: pair };
  requireKinship(KIND, snapshot, pair, request.evidenceId);
  const [firstBefore, secondBefore] = pair;
  const first = contested(firstBefore, request);
  const second = contested(secondBefore, request);
  if (contradictionBetween(snapshot, pair) !== undefined) {
    throw new SvcError(
      "invalid_transition",
      `contradict: memories ${first.id} and ${second.id} contradicted each other before; that cannot be marked twice`,
      { action: KIND.action, id: first.id },
    );
  }
  const edge = edgeOf(request, "contradicts", second, first);
  const { operationId, actorId, evidenceId, at } = request;
  const payload = {
    ...checksummed({
      version: 1,
      policy: "explicit_contradiction_v1",
      operation_id: operationId,
      actor_id: actorId,
      evidence_id: evidenceId ?? null,
      before: { node_a: nodeRecord.to(firstBefore), node_b: nodeRecord.to(secondBefore) },
      after: { node_a: nodeRecord.to(first), node_b: nodeRecord.to(second) },
      edge: edgeRecord.to(edge),
    }),
    node_a_id: first.id,
    node_b_id: second.id,
    evidence_event_id: evidenceId ?? null,
  };
  const operation = logEntry(OPERATION, first, { id: operationId, actorId, at, payload });
  return {
    change: { nodes: [first, second], edges: [edge], auditRecords: [operation] },
    result: [first, second],
  };
}

function contested(before: MemoryNode, { at }: DatedPairRequest): MemoryNode {
  return { ...before, lifecycleState: requireStep("contradict", before), updatedAt: at };
}

/** @throws SvcError invalid_transition if these two were marked before, but with different input, or the mark no longer stands */
function isRepeated(snapshot: ChangeSnapshot, pair: Pair, request: PairRequest): boolean {
  const { auditRecords } = snapshot;
  const earlier = auditRecords.get(request.operationId) ?? auditRecords.get(request.reverseId);
  if (earlier === undefined) return false;
  const stands =
    earlier.id === request.operationId &&
    pair.every(({ lifecycleState }) => lifecycleState === "contested") &&
    contradictionBetween(snapshot, pair) !== undefined;
  if (stands && sameInputs(earlier, request)) return true;
  throw recordedBefore(KIND, pair, earlier);
}
