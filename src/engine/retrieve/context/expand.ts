import { type CandidateFilter, passesFilter } from "../../../domain/candidate-filter.ts";
import { SCOPES } from "../../../domain/enums.ts";
import { reasonCode } from "../../../domain/errors.ts";
import { type MemoryNode, wordingOf } from "../../../domain/node.ts";
import type { CandidatePath, PackingSettings } from "../../../domain/records/retrieval-record.ts";
import type { Adjustment } from "../../../domain/records/score.ts";
import { foldCase } from "../../../lib/text.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type {
  KeyedNode,
  NodeKey,
  SearchIndex,
  SessionWindow,
} from "../../../ports/store/search-index.ts";
import type { EngineDeps } from "../../deps.ts";
import type { Exclusion, ResultCandidate } from "../api.ts";
import { exclusionReason, type FilterRules } from "../candidates.ts";
import type { RetrievalRequest } from "../request.ts";
import { adjusted, adjustment, byScore, compareIds } from "../score/score.ts";
import { contested, flagConflicts, reachesFloor } from "../select.ts";

export type ContextDeps = Pick<EngineDeps<SearchIndex>, "store" | "settings" | "warn">;

export type ExpandedRanking = {
  readonly ranking: readonly ResultCandidate[];
  /** Whether the order is now by score and id. */
  readonly changedOrder: boolean;
  /** Session neighbours excluded by filters other than times. */
  readonly excluded: readonly Exclusion[];
};

/**
 * Adds session neighbours, episodes and sources of claims, each filtered, and flags contested claims. A failed step is skipped with a
 * warning.
 */
export async function expandContext(
  deps: ContextDeps,
  request: RetrievalRequest,
  ranking: readonly ResultCandidate[],
  rules: FilterRules,
): Promise<ExpandedRanking> {
  const excluded = new Map<Uuid, Exclusion>();
  let current = ranking;
  let changedOrder = false;
  const run = async (name: string, work: () => Step | Promise<Step>): Promise<void> => {
    request.signal?.throwIfAborted();
    try {
      const { ranking: next, changed } = await work();
      current = next;
      changedOrder ||= changed;
    } catch (error) {
      // The message could contain memory text: only the code is reported.
      deps.warn(`retrieve: ${name} was skipped (${reasonCode(error)})`);
    }
  };
  const { packing } = deps.settings;
  const context: StepContext = { deps, request, rules };
  if (packing.sessionContextWindow > 0 && packing.sessionContextTopK > 0) {
    await run("session expansion", () => addSessions(context, current, excluded));
  }
  if (packing.episodeContextTopK > 0) {
    await run("episode routing", () => routeEpisodes(current, request.query, packing));
  }
  if (evidenceRules(packing) !== undefined) {
    await run("the evidence stage", () => addSources(context, current));
  }
  request.signal?.throwIfAborted();
  return {
    ranking: await withConflicts(deps, request.filter.userId, current),
    changedOrder,
    excluded: [...excluded.values()],
  };
}

type StepContext = {
  readonly deps: ContextDeps;
  readonly request: RetrievalRequest;
  readonly rules: FilterRules;
};

async function addSessions(
  { deps, request, rules }: StepContext,
  ranking: readonly ResultCandidate[],
  excluded: Map<Uuid, Exclusion>,
): Promise<Step> {
  const { packing } = deps.settings;
  const keys = triggers(ranking, packing.sessionContextTopK).map(({ key }) => key);
  if (keys.length === 0) return { ranking, changed: false };
  const windows = await deps.store.sessionWindows(
    request.filter.userId,
    keys,
    packing.sessionContextWindow,
  );
  const shown = new Map<NodeKey, readonly Neighbour[]>();
  for (const [key, window] of windows) {
    const visible = neighbours(window).filter(({ node }) => {
      const seen = visibility(node, request.filter, rules);
      if (!seen.visible && seen.reason !== undefined) {
        excluded.set(node.id, { nodeId: node.id, reason: seen.reason, compositeScore: undefined });
      }
      return seen.visible;
    });
    shown.set(key, visible);
  }
  return expandSessions(ranking, shown, packing);
}

async function addSources(
  { deps, request, rules }: StepContext,
  ranking: readonly ResultCandidate[],
): Promise<Step> {
  const evidence = evidenceRules(deps.settings.packing);
  if (evidence === undefined) return { ranking, changed: false };
  const groups = evidenceGroups(ranking, evidence);
  const ids = [...new Set(groups.flatMap((group) => group.evidence))];
  if (ids.length === 0) return { ranking, changed: false };
  const found = await deps.store.nodesById(request.filter.userId, ids);
  const sources = new Map<Uuid, KeyedNode>(
    found
      .filter(({ node }) => visibility(node, request.filter, rules).visible)
      .map((source) => [source.node.id, source]),
  );
  return addEvidence(ranking, groups, sources, evidence);
}

async function withConflicts(
  { store }: ContextDeps,
  userId: string,
  ranking: readonly ResultCandidate[],
): Promise<readonly ResultCandidate[]> {
  const keys = contested(ranking).map(({ key }) => key);
  return keys.length === 0
    ? ranking
    : flagConflicts(ranking, await store.contradictions(userId, keys));
}

/** Reports nothing without `reason`. */
type Visibility =
  | { readonly visible: true }
  | { readonly visible: false; readonly reason: string | undefined };

/** Checks a memory that no search found: owner, scope and times, then types, then epistemic state. */
function visibility(node: MemoryNode, filter: CandidateFilter, rules: FilterRules): Visibility {
  const untyped = { ...filter, excludeNodeTypes: undefined, sourceTypes: undefined };
  if (!passesFilter(node, untyped)) return { visible: false, reason: undefined };
  const reason = typeReason(node, filter) ?? exclusionReason(node, rules);
  return reason === undefined ? { visible: true } : { visible: false, reason };
}

function typeReason(node: MemoryNode, filter: CandidateFilter): string | undefined {
  if (filter.excludeNodeTypes?.includes(node.nodeType)) {
    return `node_type_filtered:${node.nodeType}`;
  }
  const isAllowed = filter.sourceTypes?.includes(node.sourceType) ?? true;
  return isAllowed ? undefined : `source_type_filtered:${node.sourceType}`;
}

/** Searches by vector and words with a filter, `k` candidates each, and scores those that `keep` accepts. */
export type HintSearch = (
  filter: CandidateFilter,
  k: number,
  keep: (node: MemoryNode) => boolean,
) => Promise<readonly ResultCandidate[]>;

export type HintRules = {
  /** Maximum hints; 0: none. */
  readonly topN: number;
  readonly filter: FilterRules;
  readonly floorSkipped: boolean;
};

/** Undefined: the filter covers all scopes. */
function otherScopes({ scopes }: CandidateFilter): CandidateFilter["scopes"] {
  return scopes && SCOPES.filter((scope) => !scopes.includes(scope));
}

/** The best memories of the other scopes; none if no scope was named. A failed search yields none, with a warning. */
export async function crossScopeHints(
  warn: (message: string) => void,
  request: RetrievalRequest,
  rules: HintRules,
  find: HintSearch,
): Promise<readonly ResultCandidate[]> {
  const scopes = otherScopes(request.filter) ?? [];
  if (!request.includeCrossScope || rules.topN === 0 || scopes.length === 0) return [];
  const filter = { ...request.filter, scopes };
  const keep = (node: MemoryNode): boolean =>
    passesFilter(node, filter) && exclusionReason(node, rules.filter) === undefined;
  try {
    const found = await find(filter, 2 * rules.topN, keep);
    return aboveFloor(
      found.filter(({ node }) => keep(node)).slice(0, rules.topN),
      request,
      rules.floorSkipped,
    );
  } catch (error) {
    request.signal?.throwIfAborted();
    warn(`retrieve: hints from other scopes were skipped (${reasonCode(error)})`);
    return [];
  }
}

function aboveFloor(
  hints: readonly ResultCandidate[],
  { minScore, weights }: RetrievalRequest,
  floorSkipped: boolean,
): readonly ResultCandidate[] {
  if (floorSkipped && hints.every(({ semanticRelevance }) => semanticRelevance === 0)) return hints;
  return hints.filter((hint) => reachesFloor(hint, minScore, weights.fusion.kind));
}

type Step = {
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
function triggers(ranking: readonly ResultCandidate[], topK: number): readonly ResultCandidate[] {
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
