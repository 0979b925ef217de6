import { modelRules, onScale } from "../../domain/embedding-models.ts";
import { endsAnother } from "../../domain/ends-another.ts";
import type { NodeType } from "../../domain/enums.ts";
import { analyse } from "../../domain/lexical-analysis.ts";
import { nearnessTo } from "../../domain/nearness.ts";
import { type MemoryNode, statedTime } from "../../domain/node.ts";
import type { RankingPolicy } from "../../domain/records/receipt.ts";
import { mayReplace, replaces, type Statement, statementOf } from "../../domain/replacement.ts";
import { asksFor, saysTheSame } from "../../domain/same-saying.ts";
import { movable } from "../../domain/score-replay.ts";
import { storedSpeaker } from "../../domain/speaker.ts";
import { askedValue, currentValue } from "../../domain/value-slots.ts";
import { compareCodePoints } from "../../lib/text.ts";
import { unitCosine } from "../../lib/unit-cosine.ts";
import type { NodeKey, Replacement, SearchIndex } from "../../ports/store/search-index.ts";
import type { EngineDeps } from "../deps.ts";
import type { ResultCandidate } from "./api.ts";
import { adjusted, adjustment, byScore, byScoreThenPath } from "./score/score.ts";

/** Number of best candidates that are compared with one another. */
const COMPARED = 20;
/** Types of memories that state what is so. What somebody noted or said may be about any moment. */
const CLAIMS: ReadonlySet<NodeType> = new Set<NodeType>(["fact", "preference", "decision"]);

/** A candidate that makes a single statement. */
type Compared = {
  readonly candidate: ResultCandidate;
  readonly statement: Statement;
};
type Pair = { readonly newer: Compared; readonly older: Compared };
type WordedLink = Link & { readonly cosine: number };
type Deps = Pick<
  EngineDeps<Pick<SearchIndex, "ownVectors" | "replacedNotes">>,
  "store" | "embedder"
>;

/**
 * Moves a memory in front of the one that it makes outdated, if both are among the best candidates, and marks the older one. Of
 * two that say the same with another value, the later one is moved before the other if the question asks for neither value, and
 * nothing is marked. The scores of both are adjusted, so that a receipt reproduces the order.
 * @returns the same ranking object if nothing is to be moved
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
  const worded = await wordedLinks({ store, embedder }, userId, compared);
  const later = await laterLinks({ store, embedder }, { userId, query }, compared);
  return moveBehind(ranking, [...known, ...worded, ...later, ...valueLinks(query, best)], policy);
}

/** Notes of which the store knows that all they said was replaced, each with the best of what replaced it. */
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
    const by = replaced.get(older.key) ?? [];
    const newer = best.find(
      (candidate) => isOfOnePart(candidate, older) && hasReplaced(by, candidate, older),
    );
    return newer === undefined ? [] : [{ newer, older, isOutdated: true }];
  });
}

/** Whether a candidate is one of the nodes that replaced a note, or a later note of a message that one of them cites. */
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

/** Each memory that, by its words, a newer one makes outdated, with the nearest of these. */
async function wordedLinks(
  { store, embedder }: Deps,
  userId: string,
  compared: readonly Compared[],
): Promise<readonly Link[]> {
  const pairs = pairsOf(
    compared,
    (newer, older) =>
      mayReplace(newer.statement, older.statement, isSaid(newer, older)) &&
      !endsAnother(newer.statement, older.statement),
  );
  const cosines = await cosinesOf({ store, embedder }, userId, pairs);
  return nearestLinks(
    [...cosines].flatMap(([{ newer, older }, cosine]): WordedLink[] => {
      const link = { newer: newer.candidate, older: older.candidate, isOutdated: true, cosine };
      return replaces(newer.statement, older.statement, cosine, isSaid(newer, older)) ? [link] : [];
    }),
  );
}

/** Whether a candidate may be moved: a score below 0 cannot be multiplied. */
function isMovable({ node, compositeScore }: ResultCandidate): boolean {
  return compositeScore >= 0 && isStatement(node);
}

/** Each memory that says the same as a later one with another value, with the latest of these; notes only of those near to them. */
async function laterLinks(
  { store, embedder }: Deps,
  { userId, query }: { readonly userId: string; readonly query: string },
  compared: readonly Compared[],
): Promise<readonly Link[]> {
  const asked = new Set(analyse(query));
  const pairs = pairsOf(
    compared.filter(({ candidate }) => mayBeLater(candidate.node)),
    ({ statement: newer }, { statement: older }) =>
      saysTheSame(newer, older) && !asksFor(asked, older, newer),
  );
  const noted = pairs.filter(({ newer, older }) => !(isClaim(newer) && isClaim(older)));
  const cosines = await cosinesOf({ store, embedder }, userId, noted);
  const latest = new Map<NodeKey, Link>();
  for (const pair of pairs) {
    const { newer, older } = { newer: pair.newer.candidate, older: pair.older.candidate };
    const cosine = cosines.get(pair);
    const isNear = cosine !== undefined && nearnessTo(newer.node)(older.node, cosine) !== undefined;
    if (noted.includes(pair) && !isNear) continue;
    const known = latest.get(older.key)?.newer;
    if (known !== undefined && byAge(newer, known) < 0) continue;
    latest.set(older.key, { newer, older, isOutdated: false });
  }
  return [...latest.values()];
}

/** Number of best candidates that may state the value that is asked for, and least share of the first score that they have. */
const STATING = 10;
const STATING_SHARE = 0.3;

/** The hit that states the value of now, in front of the best one that states an earlier value. */
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

/** Claims, and what somebody noted by itself: turns of a conversation may be about any moment. */
function mayBeLater(node: MemoryNode): boolean {
  return CLAIMS.has(node.nodeType) || (node.nodeType === "note" && node.sessionId === undefined);
}

function isClaim({ candidate }: Compared): boolean {
  return CLAIMS.has(candidate.node.nodeType);
}

/** The cosine of each pair whose vectors are known, on the scale of the model for two memories. */
async function cosinesOf(
  { store, embedder }: Deps,
  userId: string,
  pairs: readonly Pair[],
): Promise<ReadonlyMap<Pair, number>> {
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
    // A candidate with an inherited score is there for another memory.
    if (candidate.trace === undefined) return [];
    const statement = statementOf(candidate.node);
    return statement === undefined ? [] : [{ candidate, statement }];
  });
}

/** The pairs of comparable candidates, of which the words of both allow it. */
function pairsOf(
  compared: readonly Compared[],
  mayBe: (newer: Compared, older: Compared) => boolean,
): readonly Pair[] {
  return compared.flatMap((newer) =>
    compared
      .filter(
        (older) =>
          isComparable(newer.candidate, older.candidate) &&
          byAge(older.candidate, newer.candidate) < 0 &&
          mayBe(newer, older),
      )
      .map((older) => ({ newer, older })),
  );
}

/** Whether both are turns of a conversation. */
function isSaid({ candidate: one }: Compared, { candidate: other }: Compared): boolean {
  return isTurn(one.node) && isTurn(other.node);
}

function isTurn({ nodeType, sessionId }: MemoryNode): boolean {
  return nodeType === "note" && sessionId !== undefined;
}

/** Entities are names, joined turns repeat their neighbours, and nobody knows which of two contested claims is right. */
function isStatement({ nodeType, metadata, lifecycleState }: MemoryNode): boolean {
  return nodeType !== "entity" && metadata?.["qa_pair"] !== true && lifecycleState !== "contested";
}

/** Whether two memories have the same scope and, if somebody is quoted, the same speaker and role. */
function isComparable(one: ResultCandidate, other: ResultCandidate): boolean {
  const isQuoted = one.node.sessionId !== undefined || other.node.sessionId !== undefined;
  return (
    isOfOnePart(one, other) &&
    storedSpeaker(one.node.metadata) === storedSpeaker(other.node.metadata) &&
    (!isQuoted || one.node.sourceType === other.node.sourceType)
  );
}

/** Whether two memories have the same scope, and scores that can be compared: those that a reranker read precede all others. */
function isOfOnePart(one: ResultCandidate, other: ResultCandidate): boolean {
  return (
    one.node.scope === other.node.scope &&
    (one.rerankerScore === undefined) === (other.rerankerScore === undefined)
  );
}

/** Each outdated memory with the nearest memory that makes it outdated; of equally near ones the newest. */
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

/**
 * Maximum score of an older memory as a share of the newer one's: the difference is far smaller than that of any other scores.
 */
const BEHIND = 1 - 1e-9;

/** A memory and the one that it stands behind. */
type Link = {
  readonly newer: ResultCandidate;
  readonly older: ResultCandidate;
  /** Whether the newer one makes the older one outdated, as far as anybody can tell, so that the older one is marked. */
  readonly isOutdated: boolean;
};

/**
 * Moves each newer memory to the place of the older one, and that behind it. Of several links of one older memory the first counts.
 * The scores are adjusted, so that a receipt reproduces the order.
 * @returns the same ranking object if there is no link
 */
function moveBehind(
  ranking: readonly ResultCandidate[],
  links: readonly Link[],
  policy: RankingPolicy,
): readonly ResultCandidate[] {
  const followed = withoutCircles(links);
  return followed.length === 0 ? ranking : reordered(ranking, followed, policy);
}

/** By when they happened if both say so, else by when they became valid, else by when they were stored; oldest first. */
function byAge(one: ResultCandidate, other: ResultCandidate): number {
  const { node: a } = one;
  const { node: b } = other;
  const happened =
    a.eventTime === undefined || b.eventTime === undefined
      ? 0
      : compareCodePoints(a.eventTime, b.eventTime);
  return (
    happened ||
    compareCodePoints(a.validFrom, b.validFrom) ||
    compareCodePoints(a.createdAt, b.createdAt) ||
    one.key - other.key
  );
}

/** The first link of each older memory, without those that would lead back to it: what it stands behind is never behind it. */
function withoutCircles(links: readonly Link[]): readonly Link[] {
  const newerOf = new Map<NodeKey, Link>();
  for (const link of links) {
    const leadsBack = wayFrom(newerOf, link.newer.key).includes(link.older.key);
    if (!newerOf.has(link.older.key) && !leadsBack) newerOf.set(link.older.key, link);
  }
  return [...newerOf.values()];
}

/** A memory, the one that it stands behind, the one that that stands behind, and so on. */
function wayFrom(newerOf: ReadonlyMap<NodeKey, Link>, first: NodeKey): readonly NodeKey[] {
  const way = [first];
  for (let key: NodeKey | undefined = first; key !== undefined; ) {
    key = newerOf.get(key)?.newer.key;
    if (key !== undefined) way.push(key);
  }
  return way;
}

/** The newer ones moved to the places of the older ones, oldest first; then every older one moved behind, newest first. */
function reordered(
  ranking: readonly ResultCandidate[],
  links: readonly Link[],
  policy: RankingPolicy,
): readonly ResultCandidate[] {
  const current = new Map(ranking.map((candidate) => [candidate.key, candidate]));
  const now = (candidate: ResultCandidate) => current.get(candidate.key) ?? candidate;
  const newerOf = new Map(links.map((link) => [link.older.key, link]));
  const stepsOf = ({ older }: Link) => wayFrom(newerOf, older.key).length;
  // What a memory is behind may be behind another one: that decides, also where the two have other times than the order of events.
  const oldestFirst = links
    .toSorted((a, b) => byAge(a.older, b.older))
    .sort((a, b) => stepsOf(b) - stepsOf(a));
  for (const link of oldestFirst) {
    const [newer, older] = [now(link.newer), now(link.older)];
    const factor = movable(older.compositeScore) / movable(newer.compositeScore);
    // From 0 it is raised above all that have 0, too.
    const raise = newer.compositeScore === 0 ? Math.max(factor, 2) : factor;
    if (raise > 1) current.set(newer.key, { ...newer, ...stepped(newer, raise, older) });
  }
  for (const link of oldestFirst.toReversed()) {
    const [newer, older] = [now(link.newer), now(link.older)];
    const factor = Math.min(1, (newer.compositeScore * BEHIND) / movable(older.compositeScore));
    const olderThan = { nodeId: newer.node.id, at: statedTime(newer.node) };
    current.set(older.key, {
      ...older,
      ...stepped(older, factor, newer),
      ...(link.isOutdated && { olderThan }),
    });
  }
  return [...current.values()].sort(orderOf(policy));
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

function stepped(candidate: ResultCandidate, factor: number, other: ResultCandidate) {
  return adjusted(candidate, adjustment("newer_first", factor, { sourceNodeId: other.node.id }));
}
