import type { PackingSettings } from "../../../domain/records/packing.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { KeyedNode, NodeKey } from "../../../ports/store/search-index.ts";
import type { ResultCandidate } from "../api.ts";
import { adjustment } from "../score/adjust.ts";
import { addedBy, raisedBy, type Step, toStep, withPath } from "./inherit.ts";

export type EvidenceRules = {
  readonly kind: "evidence_projection" | "evidence_augmentation";
  /** Number of groups that take part; at least 1. */
  readonly topK: number;
  /** Sources of one group; at least 1. */
  readonly maxSources: number;
  /** Share of the first member's score that a source inherits, above 0, at most 1. */
  readonly decay: number;
  /** `non_entity`: entities form no group. */
  readonly anchorPolicy: "all" | "non_entity";
};

/** What the settings ask for; undefined if both forms are off. */
export function evidenceRules(packing: PackingSettings): EvidenceRules | undefined {
  if (packing.evidenceProjectionTopK > 0) {
    return {
      kind: "evidence_projection",
      topK: packing.evidenceProjectionTopK,
      maxSources: packing.evidenceProjectionMaxSources,
      decay: packing.evidenceProjectionScoreDecay,
      anchorPolicy: "all",
    };
  }
  if (packing.evidenceAugmentationTopK === 0) return undefined;
  return {
    kind: "evidence_augmentation",
    topK: packing.evidenceAugmentationTopK,
    maxSources: packing.evidenceAugmentationMaxSources,
    decay: packing.evidenceAugmentationScoreDecay,
    anchorPolicy: packing.evidenceAugmentationAnchorPolicy,
  };
}

/** Candidates with exactly the same evidence, in rank order. */
export type SharedEvidence = {
  /** Ascending, without repeats; never empty. */
  readonly evidence: readonly Uuid[];
  readonly members: readonly [ResultCandidate, ...ResultCandidate[]];
};

/** The groups that take part, by the rank of their first member. */
export function evidenceGroups(
  ranking: readonly ResultCandidate[],
  { topK, anchorPolicy }: Pick<EvidenceRules, "topK" | "anchorPolicy">,
): readonly SharedEvidence[] {
  const groups = new Map<string, SharedEvidence>();
  for (const candidate of ranking) {
    const evidence = [...new Set(candidate.node.evidenceRefs)].sort();
    if (evidence.length === 0) continue;
    if (anchorPolicy === "non_entity" && candidate.node.nodeType === "entity") continue;
    const name = evidence.join(" ");
    const group = groups.get(name);
    groups.set(name, {
      evidence,
      members: group === undefined ? [candidate] : [...group.members, candidate],
    });
  }
  return [...groups.values()].slice(0, topK);
}

/**
 * Replaces claims with the memories that they were drawn from, or puts these beside them. A source is an active memory whose own
 * id is part of the evidence, in the scope of the group's first member; it inherits a share of that member's score and the
 * largest relevance of the group. A group without a source stays as it is. Pure.
 * @param sources memories by id; those that must not be shown are left out already
 */
export function addEvidence(
  ranking: readonly ResultCandidate[],
  groups: readonly SharedEvidence[],
  sources: ReadonlyMap<Uuid, KeyedNode>,
  rules: EvidenceRules,
): Step {
  const pool = new Map(ranking.map((candidate) => [candidate.key, candidate]));
  const raised = new Set<NodeKey>();
  const replaced = new Set<NodeKey>();
  let changed = false;
  for (const { evidence, members } of groups) {
    const [first] = members;
    const chosen = evidence
      .flatMap((id) => sources.get(id) ?? [])
      .filter(({ node }) => node.scope === first.node.scope)
      .slice(0, rules.maxSources);
    if (chosen.length === 0) continue;
    for (const { key } of members) replaced.add(key);
    const anchor = { ...first, semanticRelevance: largestRelevance(members) };
    const step = adjustment(rules.kind, rules.decay, { sourceNodeId: first.node.id });
    for (const source of chosen) {
      const present = pool.get(source.key);
      const candidate =
        present === undefined
          ? addedBy(anchor, source, "EVIDENCE_CONTEXT", step)
          : withPath(raisedBy(anchor, present, step), "EVIDENCE_CONTEXT", true);
      changed ||= candidate.compositeScore !== present?.compositeScore;
      pool.set(source.key, candidate);
      raised.add(source.key);
    }
  }
  if (rules.kind === "evidence_augmentation") return toStep(pool.values(), changed);
  const kept = [...pool.values()].filter(({ key }) => raised.has(key) || !replaced.has(key));
  return toStep(kept, changed || kept.length < pool.size);
}

function largestRelevance(members: readonly ResultCandidate[]): number {
  return members.reduce((most, { semanticRelevance }) => Math.max(most, semanticRelevance), 0);
}
