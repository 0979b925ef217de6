import type { Edge } from "../../../src/domain/node.ts";
import type {
  AssertionState,
  StateEntry,
  StateQuery,
} from "../../../src/domain/records/aggregation.ts";
import type { Told } from "./claims-world.ts";
import { byBytes, counts, doubtAbout, holdsAt } from "./naive.ts";

/** What the state of a claim comes to, worked out from what was told about each memory. As `naive.ts`. */
export function naiveState(
  told: readonly Told[],
  edges: readonly Edge[],
  naive: {
    readonly userId: string;
    readonly query: StateQuery;
    readonly subject: string;
    readonly predicate: string;
  },
): AssertionState {
  const { query, userId, subject, predicate } = naive;
  const { limit, validAt, knowledgeAt } = query;
  const scanned = query.nodeTypes.flatMap((type) =>
    told
      .filter(({ node }) => node.scope === query.scope && node.nodeType === type)
      .sort((a, b) => byBytes(a.node.id, b.node.id)),
  );
  const isClaim = (record: Told) =>
    [record.subject, record.predicate, record.object, record.polarity].every(
      ({ normal }) => normal !== undefined,
    );
  const claims = scanned.filter(isClaim);
  const matched = claims.filter(
    (record) => record.subject.normal === subject && record.predicate.normal === predicate,
  );
  const known = matched.filter(
    ({ node }) => knowledgeAt === undefined || node.createdAt <= knowledgeAt,
  );
  const reasons = new Map(known.map((record) => [record.node.id, reasonsAgainst(record, validAt)]));
  const current = known.filter(({ node }) => reasons.get(node.id)?.length === 0);
  const isCurrent = (id: string) => current.some(({ node }) => node.id === id);
  const conflicts = edges
    .filter(({ sourceId, targetId }) =>
      [sourceId, targetId].every((id) => known.some(({ node }) => node.id === id)),
    )
    .filter(({ createdAt }) => knowledgeAt === undefined || createdAt <= knowledgeAt)
    .sort((a, b) => byBytes(a.createdAt + a.id, b.createdAt + b.id))
    .map((edge) => ({
      edgeId: edge.id,
      sourceNodeId: edge.sourceId,
      targetNodeId: edge.targetId,
      confidence: edge.confidence,
      evidenceRef: edge.provenanceEventId,
      createdAt: edge.createdAt,
      validFrom: edge.validFrom,
      validTo: edge.validTo,
      activeBetweenCurrentCandidates:
        holdsAt(edge, validAt) && isCurrent(edge.sourceId) && isCurrent(edge.targetId),
    }));
  const entryOf = (record: Told): StateEntry => {
    const { node } = record;
    const against = conflicts.flatMap(({ sourceNodeId: a, targetNodeId: b }) => {
      if (a === node.id) return [b];
      return b === node.id ? [a] : [];
    });
    const { id: nodeId, nodeType, content, epistemicType, sourceType, lifecycleState } = node;
    const { confidence, eventTime, createdAt, updatedAt, validFrom, validTo, supersededBy } = node;
    return {
      ...{ nodeId, nodeType, content, epistemicType, sourceType, lifecycleState, confidence },
      ...{ eventTime, createdAt, updatedAt, validFrom, validTo, supersededBy },
      subject: written(record.subject.written),
      predicate: written(record.predicate.written),
      object: written(record.object.written),
      polarity: written(record.polarity.written),
      evidenceRefs: node.evidenceRefs,
      contradictionNodeIds: [...new Set(against)].sort(byBytes),
      currentCandidate: isCurrent(node.id),
      exclusionReasons: reasons.get(node.id) ?? [],
    };
  };
  const values = valuesOf(current);
  const timeline = sortedBy(known, ({ node }) => node.validFrom + node.createdAt + node.id);
  // A high confidence comes first, and so does a late moment.
  const candidates = sortedBy(current, ({ node }) => node.id)
    .sort((a, b) => byBytes(b.node.createdAt, a.node.createdAt))
    .sort((a, b) => b.node.confidence - a.node.confidence);
  const left = [
    ...scanned.filter((record) => !isClaim(record)).map(() => "missing_structured_assertion"),
    ...claims.filter((record) => !matched.includes(record)).map(() => "selector_mismatch"),
    ...matched.filter((record) => !known.includes(record)).map(() => "after_knowledge_cutoff"),
    ...[...reasons.values()].flat().map((reason) => reason.replace(/:.*/, "")),
  ];
  return {
    schemaVersion: 1,
    userId,
    query,
    normalizedSubject: subject,
    normalizedPredicate: predicate,
    status: statusOf(current, values.length, conflicts),
    scannedNodes: scanned.length,
    matchedRecords: matched.length,
    currentCandidateCount: current.length,
    currentValues: values.slice(0, limit),
    currentValuesTruncated: values.length > limit,
    currentCandidates: candidates.slice(0, limit).map(entryOf),
    currentCandidatesTruncated: current.length > limit,
    timeline: timeline.slice(-limit).map(entryOf),
    timelineTruncated: known.length > limit,
    conflicts: conflicts.slice(-limit),
    conflictCount: conflicts.length,
    conflictsTruncated: conflicts.length > limit,
    exclusions: counts(left),
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
      knowledgeAt === undefined
        ? undefined
        : {
            knowledgeAt,
            semantics: "ingestion_cutoff",
            exactSnapshot: false,
            limitations: [
              "current_lifecycle_state",
              "current_derived_indexes",
              "mutations_not_replayed",
            ],
          },
  };
}

function reasonsAgainst(record: Told, validAt: string): string[] {
  const { node } = record;
  const isActive = ["tentative", "stable", "contested"].includes(node.lifecycleState);
  return [
    holdsAt(node, validAt) ? [] : "outside_validity_window",
    isActive ? [] : `lifecycle_not_active:${node.lifecycleState}`,
    node.supersededBy === undefined ? [] : "superseded_pointer",
    doubtAbout(record) ?? [],
  ].flat();
}

function statusOf(
  current: readonly Told[],
  values: number,
  conflicts: readonly { readonly activeBetweenCurrentCandidates: boolean }[],
): AssertionState["status"] {
  if (current.length === 0) return "unknown";
  if (conflicts.some((conflict) => conflict.activeBetweenCurrentCandidates)) return "contested";
  if (current.some(({ node }) => node.lifecycleState === "contested")) return "contested";
  if (current.length === 1) return "single";
  return values === 1 ? "consistent" : "multiple";
}

function valuesOf(current: readonly Told[]): AssertionState["currentValues"] {
  const pairs = current.map(({ object, polarity }) => [object.normal, polarity.normal] as const);
  const distinct = pairs.filter(
    ([object, polarity], at) => pairs.findIndex(([o, p]) => o === object && p === polarity) === at,
  );
  return distinct
    .sort(([a, p], [b, q]) => byBytes(a ?? "", b ?? "") || byBytes(p ?? "", q ?? ""))
    .map(([object = "", polarity = ""]) => {
      const members = current.filter(
        (record) => record.object.normal === object && record.polarity.normal === polarity,
      );
      const ids = members.map(({ node }) => node.id);
      const events = [...new Set(members.flatMap(({ node }) => node.evidenceRefs))].sort(byBytes);
      return {
        object: written(members[0]?.object.written),
        polarity: written(members[0]?.polarity.written),
        normalizedObject: object,
        normalizedPolarity: polarity,
        candidateCount: members.length,
        evidenceCount: events.length,
        sampleNodeIds: ids.slice(0, 10).sort(byBytes),
        sampleEvidenceRefs: events.slice(0, 10),
        samplesTruncated: Math.max(ids.length, events.length) > 10,
      };
    });
}

/** As somebody wrote it; a polarity that nobody wrote is positive. */
function written(text: unknown): string {
  return typeof text === "string" ? text.trim() : "positive";
}

function sortedBy<T>(items: readonly T[], key: (item: T) => string): T[] {
  return [...items].sort((a, b) => byBytes(key(a), key(b)));
}
