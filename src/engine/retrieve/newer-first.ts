import { modelRules, onScale, unitCosine } from "../../domain/embedding-models.ts";
import type { NodeType } from "../../domain/enums.ts";
import { type MemoryNode, statedTime } from "../../domain/node.ts";
import type { RankingPolicy } from "../../domain/records/receipt.ts";
import {
  mayReplace,
  readStatement,
  replaces,
  type Statement,
  statementOf,
} from "../../domain/replacement.ts";
import { endsAnother, isAboutTheSame, mayComeFirst } from "../../domain/same-saying.ts";
import { movable } from "../../domain/score-replay.ts";
import { isOfConversation } from "../../domain/search/turns.ts";
import { storedSpeaker } from "../../domain/speaker.ts";
import { askedValue, asksOfThen, currentValue } from "../../domain/value-slots.ts";
import { compareUnits } from "../../lib/text.ts";
import type { NodeKey, Replacement, SearchIndex } from "../../ports/store/search-index.ts";
import type { EngineDeps } from "../deps.ts";
import type { ResultCandidate } from "./api.ts";
import { adjusted, adjustment, byScore, byScoreThenPath } from "./score/score.ts";

/** Best candidates that are compared. */
const COMPARED = 20;
/** Types that state current facts; notes and turns may refer to any time. */
const CLAIMS: ReadonlySet<NodeType> = new Set<NodeType>(["fact", "preference", "decision"]);

type Compared = {
  readonly candidate: ResultCandidate;
  readonly statement: Statement;
};
type Pair = { readonly newer: Compared; readonly older: Compared };
type Cosines = ReadonlyMap<Pair, number>;
type WordedLink = Link & { readonly cosine: number };
type Deps = Pick<
  EngineDeps<Pick<SearchIndex, "ownVectors" | "replacedNotes">>,
  "store" | "embedder"
>;

/**
 * Ranks a newer memory above the one it outdates, and marks that one; the same, unmarked, for two that differ in a value the question does
 * not name. The scores are adjusted, so that a receipt reproduces the order.
 */
export async function newerFirst(
  { store, embedder }: Deps,
  { userId, query }: { readonly userId: string; readonly query: string },
  ranking: readonly ResultCandidate[],
  policy: RankingPolicy,
): Promise<readonly ResultCandidate[]> {
  const best = ranking.slice(0, COMPARED).filter(isMovable);
  const known = await replacedLinks(store, userId, best);
  const compared = statements(best);
  const worded = wordedPairs(compared);
  const later = laterPairs(query, compared);
  const cosines = await cosinesOf({ store, embedder }, userId, [...worded, ...later]);
  const links = [
    ...known,
    ...wordedLinks(worded, cosines),
    ...laterLinks(later, cosines),
    ...valueLinks(query, best),
  ];
  return moveBehind(ranking, links, policy);
}

/** Notes recorded as replaced, each with the best replacement. */
async function replacedLinks(
  store: Pick<SearchIndex, "replacedNotes">,
  userId: string,
  best: readonly ResultCandidate[],
): Promise<readonly Link[]> {
  const notes = best.filter(({ node }) => node.nodeType === "note");
  if (notes.length === 0 || best.length < 2) return [];
  const keys = notes.map(({ key }) => key);
  const replaced = await store.replacedNotes(userId, keys);
  return notes.flatMap((older): Link[] => {
    const by = replaced.get(older.key);
    if (by === undefined) return [];
    const newer = best.find(
      (candidate) => isOfOnePart(candidate, older) && hasReplaced(by, candidate, older),
    );
    return newer === undefined ? [] : [{ newer, older, isOutdated: true }];
  });
}

/** Whether a candidate replaced a note, or is a later note citing the same evidence as its replacement. */
function hasReplaced(
  by: readonly Replacement[],
  candidate: ResultCandidate,
  older: ResultCandidate,
): boolean {
  const { id, nodeType, evidenceRefs } = candidate.node;
  if (by.some((replacement) => replacement.id === id)) return true;
  return (
    nodeType === "note" &&
    byAge(older, candidate) < 0 &&
    by.some((replacement) => replacement.evidenceRefs.some((event) => evidenceRefs.includes(event)))
  );
}

function wordedPairs(compared: readonly Compared[]): readonly Pair[] {
  return pairsOf(
    compared,
    (newer, older) =>
      mayReplace(newer.statement, older.statement, isSaid(newer, older)) &&
      !endsAnother(newer.statement, older.statement),
  );
}

/** Memories outdated by the words of a newer one, each with the nearest one. */
function wordedLinks(pairs: readonly Pair[], cosines: Cosines): readonly Link[] {
  return nearestLinks(
    pairs.flatMap((pair): WordedLink[] => {
      const { newer, older } = pair;
      const cosine = cosines.get(pair);
      const isReplaced =
        cosine !== undefined &&
        replaces(newer.statement, older.statement, cosine, isSaid(newer, older));
      const link = { newer: newer.candidate, older: older.candidate, isOutdated: true };
      return isReplaced ? [{ ...link, cosine }] : [];
    }),
  );
}

/** A score below 0 cannot be multiplied. */
function isMovable({ node, compositeScore }: ResultCandidate): boolean {
  return compositeScore >= 0 && isStatement(node);
}

function laterPairs(query: string, compared: readonly Compared[]): readonly Pair[] {
  const asked = readStatement(query);
  if (asked === undefined || asksOfThen(query)) return [];
  const least = LATER_SHARE * (compared[0]?.candidate.compositeScore ?? 0);
  return pairsOf(
    compared
      .slice(0, STATING)
      .filter(
        ({ candidate: { node, compositeScore } }) => mayBeLater(node) && compositeScore >= least,
      ),
    ({ statement: newer }, { statement: older }) => mayComeFirst(newer, older, asked),
  );
}

/** Top memories about the same thing as a later one, each with the latest one. */
function laterLinks(pairs: readonly Pair[], cosines: Cosines): readonly Link[] {
  const latest = new Map<NodeKey, Link>();
  for (const pair of pairs) {
    const cosine = cosines.get(pair);
    if (cosine === undefined) continue;
    if (!isAboutTheSame(pair.newer.statement, pair.older.statement, cosine)) continue;
    const { newer, older } = { newer: pair.newer.candidate, older: pair.older.candidate };
    const known = latest.get(older.key)?.newer;
    if (known !== undefined && byAge(newer, known) < 0) continue;
    latest.set(older.key, { newer, older, isOutdated: false });
  }
  return [...latest.values()];
}

/** How many top candidates may state the requested value, and their minimum share of the first score. */
const STATING = 10;
const STATING_SHARE = 0.3;
/** Minimum share of the first score for a memory that may be later than one before it. */
const LATER_SHARE = 0.1;

/** The hit that states the current value, ranked before the best one with an earlier value. */
function valueLinks(query: string, best: readonly ResultCandidate[]): readonly Link[] {
  const asked = askedValue(query);
  const [first] = best;
  if (asked === undefined || first === undefined) return [];
  const stating = best
    .slice(0, STATING)
    .filter((candidate) => candidate.compositeScore >= STATING_SHARE * first.compositeScore)
    .map((candidate) => {
      const { node } = candidate;
      const by = [
        node.scope,
        node.sourceType,
        storedSpeaker(node.metadata),
        candidate.rerankerScore === undefined,
      ];
      return { candidate, text: node.content, by: JSON.stringify(by) };
    });
  const found = currentValue(
    asked,
    stating,
    (one, other) => byAge(other.candidate, one.candidate) < 0,
  );
  if (found === undefined) return [];
  return [{ newer: found.current.candidate, older: found.earlier.candidate, isOutdated: false }];
}

/** Turns of a conversation may refer to any moment. */
function mayBeLater(node: MemoryNode): boolean {
  return CLAIMS.has(node.nodeType) || (node.nodeType === "note" && node.sessionId === undefined);
}

/** On the model's scale; pairs without vectors are left out. */
async function cosinesOf(
  { store, embedder }: Deps,
  userId: string,
  pairs: readonly Pair[],
): Promise<Cosines> {
  if (pairs.length === 0) return new Map();
  const { likeMemories } = modelRules(embedder.identity.model);
  const keys = pairs.flatMap(({ newer, older }) => [newer.candidate.key, older.candidate.key]);
  const vectors = await store.ownVectors(userId, [...new Set(keys)]);
  return new Map(
    pairs.flatMap((pair) => {
      const one = vectors.get(pair.newer.candidate.key);
      const other = vectors.get(pair.older.candidate.key);
      if (one === undefined || other === undefined) return [];
      return [[pair, onScale(likeMemories, unitCosine(one, other))] as const];
    }),
  );
}

function statements(best: readonly ResultCandidate[]): readonly Compared[] {
  return best.flatMap((candidate): Compared[] => {
    // An inherited score belongs to another memory.
    if (candidate.trace === undefined) return [];
    const statement = statementOf(candidate.node);
    return statement === undefined ? [] : [{ candidate, statement }];
  });
}

function pairsOf(
  compared: readonly Compared[],
  mayBe: (newer: Compared, older: Compared) => boolean,
): readonly Pair[] {
  return compared.flatMap((newer) =>
    compared
      .filter(
        (older) =>
          // The cheap ones first.
          byAge(older.candidate, newer.candidate) < 0 &&
          isComparable(newer.candidate, older.candidate) &&
          mayBe(newer, older),
      )
      .map((older) => ({ newer, older })),
  );
}

function isSaid({ candidate: one }: Compared, { candidate: other }: Compared): boolean {
  return isOfConversation(one.node) && isOfConversation(other.node);
}

/** Entities are names, joined turns repeat others, and contested claims are undecided. */
function isStatement({ nodeType, metadata, lifecycleState }: MemoryNode): boolean {
  return nodeType !== "entity" && metadata?.["qa_pair"] !== true && lifecycleState !== "contested";
}

/** Whether scope and, for quotes, speaker and role are the same. */
function isComparable(one: ResultCandidate, other: ResultCandidate): boolean {
  const isQuoted = one.node.sessionId !== undefined || other.node.sessionId !== undefined;
  return (
    isOfOnePart(one, other) &&
    storedSpeaker(one.node.metadata) === storedSpeaker(other.node.metadata) &&
    (!isQuoted || one.node.sourceType === other.node.sourceType)
  );
}

/** Same scope, and comparable scores: reranked ones precede all others. */
function isOfOnePart(one: ResultCandidate, other: ResultCandidate): boolean {
  return (
    one.node.scope === other.node.scope &&
    (one.rerankerScore === undefined) === (other.rerankerScore === undefined)
  );
}

/** The nearest link of each older memory; the newest of equally near ones. */
function nearestLinks(links: readonly WordedLink[]): readonly Link[] {
  const nearest = new Map<NodeKey, WordedLink>();
  for (const link of links) {
    const known = nearest.get(link.older.key);
    const isNearer =
      known === undefined ||
      link.cosine > known.cosine ||
      (link.cosine === known.cosine && byAge(known.newer, link.newer) < 0);
    if (isNearer) nearest.set(link.older.key, link);
  }
  return [...nearest.values()];
}

/** The score of an older memory as a share of the newer one's: closer than tie breaks of scores. */
const BEHIND = 1 - 1e-13;

type Link = {
  readonly newer: ResultCandidate;
  readonly older: ResultCandidate;
  /** Whether the older one is marked as outdated. */
  readonly isOutdated: boolean;
};

/**
 * Moves each newer memory to the place of the older one, which then follows it; an outdated one follows directly. The first link of an
 * older memory counts.
 */
function moveBehind(
  ranking: readonly ResultCandidate[],
  links: readonly Link[],
  policy: RankingPolicy,
): readonly ResultCandidate[] {
  const followed = withoutCircles(links);
  return followed.length === 0 ? ranking : reordered(ranking, followed, policy);
}

/** By event time if both have one, else by validity, else by storage; oldest first. */
function byAge(one: ResultCandidate, other: ResultCandidate): number {
  const { node: a } = one;
  const { node: b } = other;
  const happened =
    a.eventTime === undefined || b.eventTime === undefined
      ? 0
      : compareUnits(a.eventTime, b.eventTime);
  return (
    happened ||
    compareUnits(a.validFrom, b.validFrom) ||
    compareUnits(a.createdAt, b.createdAt) ||
    one.key - other.key
  );
}

/** The first link of each older memory, without cycles. */
function withoutCircles(links: readonly Link[]): readonly Link[] {
  const newerOf = new Map<NodeKey, Link>();
  for (const link of links) {
    const leadsBack = wayFrom(newerOf, link.newer.key).includes(link.older.key);
    if (!newerOf.has(link.older.key) && !leadsBack) newerOf.set(link.older.key, link);
  }
  return [...newerOf.values()];
}

/** A memory, what precedes it, what precedes that, and so on. */
function wayFrom(newerOf: ReadonlyMap<NodeKey, Link>, first: NodeKey): readonly NodeKey[] {
  const way = [first];
  for (let key: NodeKey | undefined = first; key !== undefined; ) {
    key = newerOf.get(key)?.newer.key;
    if (key !== undefined) way.push(key);
  }
  return way;
}

function reordered(
  ranking: readonly ResultCandidate[],
  links: readonly Link[],
  policy: RankingPolicy,
): readonly ResultCandidate[] {
  const current = new Map<NodeKey, ResultCandidate>();
  const now = (candidate: ResultCandidate) => current.get(candidate.key) ?? candidate;
  const newerOf = new Map(links.map((link) => [link.older.key, link]));
  const stepsOf = ({ older }: Link) => wayFrom(newerOf, older.key).length;
  // Chains decide the order, even against event times.
  const oldestFirst = links
    .toSorted((a, b) => byAge(a.older, b.older))
    .sort((a, b) => stepsOf(b) - stepsOf(a));
  for (const link of oldestFirst) {
    const [newer, older] = [now(link.newer), now(link.older)];
    const factor = movable(older.compositeScore) / movable(newer.compositeScore);
    // A score of 0 cannot be multiplied.
    const raise = newer.compositeScore === 0 ? Math.max(factor, 2) : factor;
    if (raise > 1) current.set(newer.key, { ...newer, ...stepped(newer, raise, older) });
  }
  for (const link of oldestFirst.toReversed()) {
    const [newer, older] = [now(link.newer), now(link.older)];
    const beside = (newer.compositeScore * BEHIND) / movable(older.compositeScore);
    const olderThan = { nodeId: newer.node.id, at: statedTime(newer.node) };
    // An outdated memory directly follows what outdates it.
    const step =
      link.isOutdated && beside > 1
        ? stepped(older, beside, newer, "behind_newer")
        : stepped(older, Math.min(1, beside), newer);
    const behind = newer.node.id;
    current.set(older.key, { ...older, ...step, behind, ...(link.isOutdated && { olderThan }) });
  }
  return ranking.map(now).sort(orderOf(policy));
}

function orderOf(policy: RankingPolicy): (a: ResultCandidate, b: ResultCandidate) => number {
  if (policy === "score_id") return byScore;
  if (policy === "score_path_id") return byScoreThenPath;
  return (a, b) => {
    const isFirst = a.rerankerScore !== undefined;
    if (isFirst !== (b.rerankerScore !== undefined)) return isFirst ? -1 : 1;
    return isFirst ? byScore(a, b) : byScoreThenPath(a, b);
  };
}

function stepped(
  candidate: ResultCandidate,
  factor: number,
  other: ResultCandidate,
  kind: "newer_first" | "behind_newer" = "newer_first",
) {
  return adjusted(candidate, adjustment(kind, factor, { sourceNodeId: other.node.id }));
}
