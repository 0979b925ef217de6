import { wordingOf } from "../../../domain/node.ts";
import type { CandidatePath, PackingSettings } from "../../../domain/records/retrieval-record.ts";
import type { Adjustment } from "../../../domain/records/score.ts";
import { foldCase } from "../../../lib/text.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { KeyedNode, NodeKey, SessionWindow } from "../../../ports/store/search-index.ts";
import type { ResultCandidate } from "../api.ts";
import { adjusted, adjustment, byScore, compareIds } from "../score/score.ts";

export type Step = {
  readonly ranking: readonly ResultCandidate[];
  /** Whether scores or members changed; then the order is `byScore`. */
  readonly changed: boolean;
};

/** A memory that no search found, with a share of its source's score. */
function addedBy(
  source: ResultCandidate,
  { key, node }: KeyedNode,
  path: CandidatePath,
  step: Adjustment,
): ResultCandidate {
  return {
    key,
    node,
    paths: [path],
    pathCount: 1,
    semanticScore: undefined,
    lexicalScore: undefined,
    graphProximity: 0,
    ...adjusted(source, step),
    pathScore: 1 / 3,
    semanticRelevance: source.semanticRelevance,
    trace: undefined,
    rerankerScore: undefined,
    sessionLink: undefined,
    conflictFlag: false,
    contradictsId: undefined,
  };
}

/** A candidate with the larger of its own score and a share of another's; the same for relevance. */
function raisedBy(
  source: ResultCandidate,
  candidate: ResultCandidate,
  step: Adjustment,
): ResultCandidate {
  const semanticRelevance = Math.max(candidate.semanticRelevance, source.semanticRelevance);
  const inherited = adjusted(source, step);
  return inherited.compositeScore > candidate.compositeScore
    ? { ...candidate, ...inherited, trace: undefined, rerankerScore: undefined, semanticRelevance }
    : { ...candidate, semanticRelevance };
}

/** A candidate with one more path. */
function withPath(
  candidate: ResultCandidate,
  path: CandidatePath,
  counts: boolean,
): ResultCandidate {
  if (candidate.paths.includes(path)) return candidate;
  return {
    ...candidate,
    paths: [...candidate.paths, path],
    pathCount: candidate.pathCount + (counts ? 1 : 0),
  };
}

function toStep(candidates: Iterable<ResultCandidate>, changed: boolean): Step {
  const ranking = [...candidates];
  return { ranking: changed ? ranking.sort(byScore) : ranking, changed };
}

export type SessionRules = Pick<
  PackingSettings,
  | "sessionContextTopK"
  | "sessionContextScoreDecay"
  | "sessionContextRankFusionScoreDecay"
  | "sessionContextPacking"
>;

/** A memory of the same session; `offset` is negative before the trigger. */
export type Neighbour = KeyedNode & { readonly offset: number };

/** Candidates whose session neighbours are added. */
export function triggers(
  ranking: readonly ResultCandidate[],
  topK: number,
): readonly ResultCandidate[] {
  return ranking.slice(0, topK).filter(({ node }) => node.sessionId !== undefined);
}

/** In session order. */
export function neighbours({ before, after }: SessionWindow): readonly Neighbour[] {
  return [
    ...before.map((neighbour, index) => ({ ...neighbour, offset: -1 - index })).reverse(),
    ...after.map((neighbour, index) => ({ ...neighbour, offset: 1 + index })),
  ];
}

/**
 * Adds the turns around the best hits, since an answer is often next to the matching words. Scores are inherited once, not from neighbour
 * to neighbour.
 */
export function expandSessions(
  ranking: readonly ResultCandidate[],
  windows: ReadonlyMap<NodeKey, readonly Neighbour[]>,
  rules: SessionRules,
): Step {
  const pool = new Map(ranking.map((candidate) => [candidate.key, candidate]));
  const first = new Set(ranking.slice(0, rules.sessionContextTopK).map(({ key }) => key));
  let changed = false;
  for (const trigger of triggers(ranking, rules.sessionContextTopK)) {
    for (const neighbour of windows.get(trigger.key) ?? []) {
      if (neighbour.key === trigger.key) continue;
      const present = pool.get(neighbour.key);
      const inherited = inherit(trigger, neighbour, present, rules);
      changed ||= present === undefined || inherited.compositeScore > present.compositeScore;
      pool.set(
        neighbour.key,
        first.has(neighbour.key) ? inherited : linked(inherited, trigger, neighbour, rules),
      );
    }
  }
  return toStep(pool.values(), changed);
}

function inherit(
  trigger: ResultCandidate,
  neighbour: Neighbour,
  present: ResultCandidate | undefined,
  rules: SessionRules,
): ResultCandidate {
  const step = adjustment("session_decay", decayOf(trigger, rules), {
    sourceNodeId: trigger.node.id,
  });
  const { key, node } = neighbour;
  if (present === undefined) return addedBy(trigger, { key, node }, "SESSION_CONTEXT", step);
  const counts = rules.sessionContextPacking !== undefined;
  return withPath(raisedBy(trigger, present, step), "SESSION_CONTEXT", counts);
}

function decayOf({ provenance }: ResultCandidate, rules: SessionRules): number {
  const own =
    provenance.fusion === undefined ? undefined : rules.sessionContextRankFusionScoreDecay;
  return own ?? rules.sessionContextScoreDecay;
}

/** The link to the highest-ranked trigger stays. */
function linked(
  candidate: ResultCandidate,
  trigger: ResultCandidate,
  { offset }: Neighbour,
  { sessionContextPacking: packing }: SessionRules,
): ResultCandidate {
  if (packing === undefined || candidate.sessionLink !== undefined) return candidate;
  return { ...candidate, sessionLink: { triggerId: trigger.node.id, offset } };
}

export type EpisodeRules = Pick<
  PackingSettings,
  "episodeContextTopK" | "episodeContextLocalK" | "episodeContextScoreDecay"
>;

/** Candidates of one session, in rank order. */
type Episode = { readonly name: string; readonly members: readonly ResultCandidate[] };

/** Raises the best members of the best matching sessions to nearly the score of their best one. Adds nothing. */
export function routeEpisodes(
  ranking: readonly ResultCandidate[],
  query: string,
  rules: EpisodeRules,
): Step {
  const terms = new Set(termsOf(query));
  const pool = new Map(ranking.map((candidate) => [candidate.key, candidate]));
  let changed = false;
  for (const { members } of bestEpisodes(ranking, terms, rules.episodeContextTopK)) {
    const [anchor] = [...members].sort((a, b) => b.compositeScore - a.compositeScore);
    if (anchor === undefined) continue;
    const step = adjustment("episode_decay", rules.episodeContextScoreDecay, {
      sourceNodeId: anchor.node.id,
    });
    for (const member of bestMembers(members, terms, rules.episodeContextLocalK)) {
      const raised = withPath(raisedBy(anchor, member, step), "EPISODE_CONTEXT", true);
      changed ||= raised.compositeScore > member.compositeScore;
      pool.set(member.key, raised);
    }
  }
  return toStep(pool.values(), changed);
}

function bestEpisodes(
  ranking: readonly ResultCandidate[],
  terms: ReadonlySet<string>,
  topK: number,
): readonly Episode[] {
  const groups = new Map<string, ResultCandidate[]>();
  for (const candidate of ranking) {
    const { scope, sessionId } = candidate.node;
    if (sessionId === undefined) continue;
    // Scopes contain no blank.
    const name = `${scope} ${sessionId}`;
    const members = groups.get(name);
    if (members === undefined) groups.set(name, [candidate]);
    else members.push(candidate);
  }
  const episodes = [...groups]
    .map(([name, members]): Episode => ({ name, members }))
    .filter(({ members }) => members.length >= 2);
  const scores = bm25(
    episodes.map(({ members }) => members.map(({ node }) => wordingOf(node)).join("\n")),
    terms,
  );
  return episodes
    .map((episode, index) => ({ ...episode, score: scores[index] ?? 0 }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
    .slice(0, topK);
}

function bestMembers(
  members: readonly ResultCandidate[],
  terms: ReadonlySet<string>,
  localK: number,
): readonly ResultCandidate[] {
  const scores = bm25(
    members.map(({ node }) => wordingOf(node)),
    terms,
  );
  return members
    .map((member, index) => ({ member, score: scores[index] ?? 0 }))
    .sort(
      (a, b) =>
        b.score - a.score ||
        b.member.compositeScore - a.member.compositeScore ||
        compareIds(a.member, b.member),
    )
    .slice(0, localK)
    .map(({ member }) => member);
}

function termsOf(text: string): readonly string[] {
  return foldCase(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}

const K1 = 1.5;
const B = 0.75;

/** BM25 with rarity among these documents (Robertson and Zaragoza, 2009). */
function bm25(documents: readonly string[], terms: ReadonlySet<string>): readonly number[] {
  const counted = documents.map((text) => {
    const words = termsOf(text);
    const counts = new Map<string, number>();
    for (const word of words) {
      if (terms.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    return { length: words.length, counts };
  });
  const mean = counted.reduce((sum, { length }) => sum + length, 0) / documents.length;
  return counted.map(({ length, counts }) => {
    let score = 0;
    for (const term of terms) {
      const count = counts.get(term);
      if (count === undefined) continue;
      const holding = counted.filter((other) => other.counts.has(term)).length;
      const rarity = Math.log(1 + (documents.length - holding + 0.5) / (holding + 0.5));
      score += (rarity * count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / mean));
    }
    return score;
  });
}

export type EvidenceRules = {
  readonly kind: "evidence_projection" | "evidence_augmentation";
  /** Groups, at least 1. */
  readonly topK: number;
  /** Sources per group, at least 1. */
  readonly maxSources: number;
  /** Share of the score that a source inherits, above 0, at most 1. */
  readonly decay: number;
  /** `non_entity`: entities form no group. */
  readonly anchorPolicy: "all" | "non_entity";
};

/** Undefined: both forms are off. */
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

/** Candidates with the same evidence, in rank order. */
type SharedEvidence = {
  /** Ascending, not empty. */
  readonly evidence: readonly Uuid[];
  readonly members: readonly [ResultCandidate, ...ResultCandidate[]];
};

/** The first groups, by the rank of their first member. */
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
 * Replaces claims with the memories they were extracted from, or adds these (`augmentation`). A source inherits a share of the first
 * member's score and the largest relevance.
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
