import { parseUserId } from "../../domain/arguments.ts";
import { ACTIVE_STATES, LIFECYCLE_STATES } from "../../domain/enums.ts";
import {
  epistemicExclusion,
  normaliseClaim,
  normalisePredicate,
  readClaim,
} from "../../domain/epistemics.ts";
import type { Edge, MemoryNode } from "../../domain/node.ts";
import type {
  AssertionState,
  StateConflict,
  StateEntry,
  StateQuery,
  StateStatus,
  StateValue,
} from "../../domain/records/aggregation.ts";
import { historicalCoverage } from "../../domain/records/receipt.ts";
import { surestFirst } from "../../domain/search/bm25.ts";
import type { Instant } from "../../lib/instant.ts";
import { compareUnits, normaliseText } from "../../lib/text.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { EngineDeps } from "../deps.ts";
import type { StateQueryInput } from "./api.ts";
import {
  addSample,
  createExclusions,
  createGroups,
  type Exclusions,
  type Group,
  isValidAt,
  noneSampled,
  parseStateQuery,
  type Sampled,
  type SpelledClaim,
  scanRecords,
  smallestIds,
  sortedIds,
} from "./claims.ts";

type Deps = Pick<EngineDeps<Graph>, "store" | "settings">;

/**
 * The eligible claims about a subject at a moment, and those before; none is judged.
 * @throws SvcError invalid_argument; the abort reason
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
    historicalCoverage:
      query.knowledgeAt && historicalCoverage(query.knowledgeAt, "ingestion_cutoff"),
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

/** Samples per value. */
const SAMPLES = 10;

/** Without reasons against it, a claim is a current candidate. */
type FoundClaim = SpelledClaim & { readonly node: MemoryNode; readonly reasons: readonly string[] };

type GatheredClaims = ReturnType<ReturnType<typeof gatherClaims>["found"]>;

/** Holds the ids of all claims, and full data only for those in the answer. */
function gatherClaims(query: StateQuery, exclusions: Exclusions, unverifiedThreshold: number) {
  const { knowledgeAt, limit } = query;
  const subject = normaliseText(query.subject);
  const predicate = normalisePredicate(query.predicate);
  const candidates = gatherCandidates(limit);
  const latest = createFirst<FoundClaim>(limit, (a, b) => byTime(b, a));
  const isCurrent = new Map<Uuid, boolean>();
  let matchedRecords = 0;

  const match = (node: MemoryNode): SpelledClaim | string => {
    const claim = readClaim(node.metadata);
    if (claim === undefined) return "missing_structured_assertion";
    const isMatch =
      normaliseText(claim.subject) === subject && normalisePredicate(claim.predicate) === predicate;
    return isMatch ? { claim, normal: normaliseClaim(claim) } : "selector_mismatch";
  };
  const visit = (node: MemoryNode) => {
    const read = match(node);
    if (typeof read === "string") {
      exclusions.add(read);
      return;
    }
    matchedRecords += 1;
    if (knowledgeAt !== undefined && node.createdAt > knowledgeAt) {
      exclusions.add("after_knowledge_cutoff");
      return;
    }
    const reasons = reasonsAgainst(node, query.validAt, unverifiedThreshold);
    for (const reason of reasons) exclusions.add(reason);
    const found = { ...read, node, reasons };
    isCurrent.set(node.id, reasons.length === 0);
    latest.add(found);
    if (reasons.length === 0) candidates.add(found);
  };
  const found = () => ({
    ...candidates.found(),
    matchedRecords,
    /** Ascending by time. */
    timeline: [...latest.list()].reverse(),
    isCurrent,
  });
  return { visit, found };
}

/** All reasons against a claim. */
function reasonsAgainst(
  node: MemoryNode,
  validAt: Instant,
  unverifiedThreshold: number,
): readonly string[] {
  const { lifecycleState } = node;
  const reasons: string[] = [];
  if (!isValidAt(node, validAt)) reasons.push("outside_validity_window");
  if (!ACTIVE_STATES.some((state) => state === lifecycleState)) {
    reasons.push(`lifecycle_not_active:${lifecycleState}`);
  }
  if (node.supersededBy !== undefined) reasons.push("superseded_pointer");
  const doubt = epistemicExclusion(node, { unverifiedThreshold, excludesThreshold: true });
  if (doubt !== undefined) reasons.push(doubt);
  return reasons;
}

function gatherCandidates(limit: number) {
  const values = createGroups<Sampled>(limit, noneSampled);
  const first = createFirst<FoundClaim>(limit, (a, b) => surestFirst(a.node, b.node));
  let candidateCount = 0;
  let hasContested = false;
  return {
    add: (found: FoundClaim) => {
      const { node, claim, normal } = found;
      candidateCount += 1;
      hasContested ||= node.lifecycleState === "contested";
      first.add(found);
      const value = values.of([claim.object, claim.polarity], [normal.object, normal.polarity]);
      if (value !== undefined) addSample(value, node, SAMPLES);
    },
    found: () => ({
      candidateCount,
      hasContested,
      valueCount: values.count(),
      values: values.first().map(toValue),
      candidates: first.list(),
    }),
  };
}

function toValue({ values, normal, gathered }: Group<Sampled>): StateValue {
  const { count, nodeIds, events } = gathered;
  return {
    object: values[0] ?? "",
    polarity: values[1] ?? "",
    normalizedObject: normal[0] ?? "",
    normalizedPolarity: normal[1] ?? "",
    candidateCount: count,
    evidenceCount: events.size,
    sampleNodeIds: sortedIds(nodeIds),
    sampleEvidenceRefs: smallestIds(events, SAMPLES),
    samplesTruncated: count > SAMPLES || events.size > SAMPLES,
  };
}

/** Orders by start of validity, time of storage, id. */
function byTime({ node: a }: FoundClaim, { node: b }: FoundClaim): number {
  return (
    compareUnits(a.validFrom, b.validFrom) ||
    compareUnits(a.createdAt, b.createdAt) ||
    compareUnits(a.id, b.id)
  );
}

/** Keeps the first of many in an order; holds at most twice as many. @param limit at least 1 */
function createFirst<T>(limit: number, compare: (a: T, b: T) => number) {
  const held: T[] = [];
  const cut = () => {
    held.sort(compare);
    held.length = Math.min(held.length, limit);
  };
  return {
    add: (item: T): void => {
      held.push(item);
      if (held.length === 2 * limit) cut();
    },
    list: (): readonly T[] => {
      cut();
      return [...held];
    },
  };
}
