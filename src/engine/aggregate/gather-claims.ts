import { normaliseClaim, normalisePredicate, readClaim } from "../../domain/claims.ts";
import { ACTIVE_STATES } from "../../domain/enums.ts";
import { epistemicExclusion } from "../../domain/epistemics.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { StateQuery, StateValue } from "../../domain/records/claim-state.ts";
import { surestFirst } from "../../domain/search/order.ts";
import type { Instant } from "../../lib/instant.ts";
import { normaliseText } from "../../lib/normal-text.ts";
import { compareUnits } from "../../lib/text.ts";
import type { Uuid } from "../../lib/uuid.ts";
import { isValidAt, type SpelledClaim } from "./eligible.ts";
import {
  addSample,
  createGroups,
  type Group,
  noneSampled,
  type Sampled,
  sortedIds,
} from "./groups.ts";
import type { Exclusions } from "./scan.ts";

/** Samples per value. */
const SAMPLES = 10;

/** A stored claim about the subject, and why it is not a current candidate; without a reason it is one. */
export type FoundClaim = SpelledClaim & {
  readonly node: MemoryNode;
  readonly reasons: readonly string[];
};

/** What a scan has found. */
export type GatheredClaims = {
  /** Including those stored after the cutoff. */
  readonly matchedRecords: number;
  readonly candidateCount: number;
  readonly hasContested: boolean;
  readonly valueCount: number;
  /** The first values, in the order of the answer. */
  readonly values: readonly StateValue[];
  readonly candidates: readonly FoundClaim[];
  /** The last of all claims in time order, ascending. */
  readonly timeline: readonly FoundClaim[];
  /** For every claim up to the cutoff, whether it is a current candidate. */
  readonly isCurrent: ReadonlyMap<Uuid, boolean>;
};

export type ClaimGathering = {
  readonly visit: (node: MemoryNode) => void;
  readonly found: () => GatheredClaims;
};

/** Gathers the claims about a subject. Holds the ids of all, and full data only for those in the answer. */
export function gatherClaims(
  query: StateQuery,
  exclusions: Exclusions,
  unverifiedThreshold: number,
): ClaimGathering {
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
    timeline: [...latest.list()].reverse(),
    isCurrent,
  });
  return { visit, found };
}

/** Every reason why a claim is not a current candidate. */
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
  const first = createFirst<FoundClaim>(limit, byConfidence);
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
    evidenceCount: events.size(),
    sampleNodeIds: sortedIds(nodeIds),
    sampleEvidenceRefs: events.smallest(SAMPLES),
    samplesTruncated: count > SAMPLES || events.size() > SAMPLES,
  };
}

/** By confidence and time of storage, both descending, then by id. */
function byConfidence({ node: a }: FoundClaim, { node: b }: FoundClaim): number {
  return surestFirst(a, b);
}

/** By start of validity, time of storage and id. */
function byTime({ node: a }: FoundClaim, { node: b }: FoundClaim): number {
  return (
    compareUnits(a.validFrom, b.validFrom) ||
    compareUnits(a.createdAt, b.createdAt) ||
    compareUnits(a.id, b.id)
  );
}

/** Keeps the first few of many in an order, and holds at most twice as many. */
export type First<T> = {
  readonly add: (item: T) => void;
  /** In order. */
  readonly list: () => readonly T[];
};

/** @param limit at least 1 */
export function createFirst<T>(limit: number, compare: (a: T, b: T) => number): First<T> {
  const held: T[] = [];
  const cut = () => {
    held.sort(compare);
    held.length = Math.min(held.length, limit);
  };
  return {
    add: (item) => {
      held.push(item);
      if (held.length === 2 * limit) cut();
    },
    list: () => {
      cut();
      return [...held];
    },
  };
}
