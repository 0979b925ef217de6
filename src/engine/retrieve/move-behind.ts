import { statedTime } from "../../domain/node.ts";
import type { RankingPolicy } from "../../domain/records/receipt.ts";
import { movable } from "../../domain/score-replay.ts";
import { compareCodePoints } from "../../lib/text.ts";
import type { NodeKey } from "../../ports/store/search-index.ts";
import type { ResultCandidate } from "./api.ts";
import { adjusted, adjustment } from "./score/adjust.ts";
import { byScore, byScoreThenPath } from "./score/order.ts";

/**
 * Maximum score of an older memory as a share of the newer one's: the difference is far smaller than that of any other scores.
 */
const BEHIND = 1 - 1e-9;

/** A memory and the one that it stands behind. */
export type Link = {
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
export function moveBehind(
  ranking: readonly ResultCandidate[],
  links: readonly Link[],
  policy: RankingPolicy,
): readonly ResultCandidate[] {
  const followed = withoutCircles(links);
  return followed.length === 0 ? ranking : reordered(ranking, followed, policy);
}

/** By when they happened if both say so, else by when they became valid, else by when they were stored; oldest first. */
export function byAge(one: ResultCandidate, other: ResultCandidate): number {
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
