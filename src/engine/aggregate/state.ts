import { parseUserId } from "../../domain/arguments.ts";
import { normalisePredicate } from "../../domain/claims.ts";
import type { Edge } from "../../domain/edge.ts";
import { LIFECYCLE_STATES } from "../../domain/enums.ts";
import type {
  AssertionState,
  StateConflict,
  StateEntry,
  StateQuery,
  StateStatus,
} from "../../domain/records/claim-state.ts";
import { historicalCoverage } from "../../domain/records/coverage.ts";
import { normaliseText } from "../../lib/normal-text.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { EngineDeps } from "../deps.ts";
import type { StateQueryInput } from "./api.ts";
import { isValidAt } from "./eligible.ts";
import { type FoundClaim, type GatheredClaims, gatherClaims } from "./gather-claims.ts";
import { sortedIds } from "./groups.ts";
import { parseStateQuery } from "./parse-query.ts";
import { createExclusions, scanRecords } from "./scan.ts";

type Deps = Pick<EngineDeps<Graph>, "store" | "settings">;

/**
 * What is claimed about a subject at a moment, and what was before: every eligible claim, never which one is true. Complete if
 * nothing is written meanwhile. Reads every memory of the requested scope and types; holds one page, the entries shown, the ids
 * of all claims about the subject and the conflicts among them.
 * @throws SvcError invalid_argument; the reason of the signal once it is aborted
 */
export async function assertionState(deps: Deps, input: StateQueryInput): Promise<AssertionState> {
  const query = parseStateQuery(input);
  const userId = parseUserId(input.userId);
  const { signal } = input;
  const exclusions = createExclusions();
  const threshold = deps.settings.unverifiedConfidenceThreshold;
  const gathering = gatherClaims(query, exclusions, threshold);
  const scannedNodes = await scanRecords(
    deps,
    {
      userId,
      scopes: [query.scope],
      nodeTypes: query.nodeTypes,
      lifecycleStates: LIFECYCLE_STATES,
      signal,
    },
    gathering.visit,
  );
  const claims = gathering.found();
  const conflicts = await readConflicts(deps, userId, query, claims.isCurrent);
  signal?.throwIfAborted();
  return {
    schemaVersion: 1,
    userId,
    query,
    normalizedSubject: normaliseText(query.subject),
    normalizedPredicate: normalisePredicate(query.predicate),
    status: statusOf(claims, conflicts),
    scannedNodes,
    ...describe(claims, conflicts, query.limit),
    exclusions: exclusions.counts(),
    storedSetExhaustive: true,
    sourceExtractionCoverage: "unknown",
    semanticEquivalence: "normalized_exact_only",
    realWorldCoverage: "unknown",
    validitySemantics: "valid_from_inclusive_valid_to_exclusive",
    lifecycleSemantics: "current_graph_state",
    stateSemantics: "eligible_claims_not_verified_truth",
    currentCandidateOrder: "confidence_then_ingestion_desc",
    timelineOrder: "validity_then_ingestion_ascending",
    consistency: "complete_for_unchanged_store",
    historicalCoverage: query.knowledgeAt && historicalCoverage(query.knowledgeAt),
  };
}

/** By time of storage, then id. */
async function readConflicts(
  { store }: Deps,
  userId: string,
  { validAt, knowledgeAt }: StateQuery,
  isCurrent: ReadonlyMap<Uuid, boolean>,
): Promise<readonly StateConflict[]> {
  // An edge has two ends.
  if (isCurrent.size < 2) return [];
  const edges = await store.contradictionsAmong(userId, [...isCurrent.keys()]);
  const toConflict = (edge: Edge): StateConflict => ({
    edgeId: edge.id,
    sourceNodeId: edge.sourceId,
    targetNodeId: edge.targetId,
    confidence: edge.confidence,
    evidenceRef: edge.provenanceEventId,
    createdAt: edge.createdAt,
    validFrom: edge.validFrom,
    validTo: edge.validTo,
    activeBetweenCurrentCandidates:
      isValidAt(edge, validAt) &&
      isCurrent.get(edge.sourceId) === true &&
      isCurrent.get(edge.targetId) === true,
  });
  return edges
    .filter((edge) => knowledgeAt === undefined || edge.createdAt <= knowledgeAt)
    .map(toConflict);
}

function statusOf(claims: GatheredClaims, conflicts: readonly StateConflict[]): StateStatus {
  if (claims.candidateCount === 0) return "unknown";
  const isContested =
    claims.hasContested || conflicts.some((conflict) => conflict.activeBetweenCurrentCandidates);
  if (isContested) return "contested";
  if (claims.candidateCount === 1) return "single";
  return claims.valueCount === 1 ? "consistent" : "multiple";
}

function describe(claims: GatheredClaims, conflicts: readonly StateConflict[], limit: number) {
  const opponents = opponentsIn(conflicts);
  const toEntry = (found: FoundClaim) => entryOf(found, opponents.get(found.node.id));
  return {
    matchedRecords: claims.matchedRecords,
    currentCandidateCount: claims.candidateCount,
    currentValues: claims.values,
    currentValuesTruncated: claims.valueCount > limit,
    currentCandidates: claims.candidates.map(toEntry),
    currentCandidatesTruncated: claims.candidateCount > limit,
    timeline: claims.timeline.map(toEntry),
    timelineTruncated: claims.isCurrent.size > limit,
    conflicts: conflicts.slice(-limit),
    conflictCount: conflicts.length,
    conflictsTruncated: conflicts.length > limit,
  };
}

/** The other ends of each claim's conflicts. */
function opponentsIn(conflicts: readonly StateConflict[]): ReadonlyMap<Uuid, ReadonlySet<Uuid>> {
  const opponents = new Map<Uuid, Set<Uuid>>();
  const add = (id: Uuid, other: Uuid) => {
    const others = opponents.get(id) ?? new Set();
    opponents.set(id, others.add(other));
  };
  for (const { sourceNodeId, targetNodeId } of conflicts) {
    add(sourceNodeId, targetNodeId);
    add(targetNodeId, sourceNodeId);
  }
  return opponents;
}

function entryOf(
  { node, claim, reasons }: FoundClaim,
  opponents: ReadonlySet<Uuid> = new Set(),
): StateEntry {
  return {
    nodeId: node.id,
    nodeType: node.nodeType,
    content: node.content,
    ...claim,
    epistemicType: node.epistemicType,
    sourceType: node.sourceType,
    lifecycleState: node.lifecycleState,
    confidence: node.confidence,
    eventTime: node.eventTime,
    createdAt: node.createdAt,
    updatedAt: node.updatedAt,
    validFrom: node.validFrom,
    validTo: node.validTo,
    supersededBy: node.supersededBy,
    evidenceRefs: node.evidenceRefs,
    contradictionNodeIds: sortedIds(opponents),
    currentCandidate: reasons.length === 0,
    exclusionReasons: reasons,
  };
}
