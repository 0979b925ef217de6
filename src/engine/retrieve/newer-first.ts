import { modelRules, onScale } from "../../domain/embedding-models.ts";
import { type MemoryNode, statedTime } from "../../domain/node.ts";
import type { RankingPolicy } from "../../domain/records/receipt.ts";
import { mayReplace, readStatement, replaces, type Statement } from "../../domain/replacement.ts";
import { storedSpeaker } from "../../domain/speaker.ts";
import { compareCodePoints } from "../../lib/text.ts";
import type { NodeKey, SearchIndex } from "../../ports/store/search-index.ts";
import type { EngineDeps } from "../deps.ts";
import type { ResultCandidate } from "./api.ts";
import { adjusted, adjustment } from "./score/adjust.ts";
import { byScore, byScoreThenPath } from "./score/order.ts";

/** Number of best candidates that are compared with one another. */
const COMPARED = 20;
/**
 * Maximum score of an outdated memory as a share of the newer one's: the difference is far smaller than that of any other scores.
 */
const BEHIND = 1 - 1e-9;

/** A candidate that makes a single statement. */
type Compared = {
  readonly candidate: ResultCandidate;
  readonly statement: Statement;
};
type Pair = { readonly newer: Compared; readonly older: Compared };
/** A memory and the one that makes it outdated. */
type Link = {
  readonly newer: ResultCandidate;
  readonly older: ResultCandidate;
  readonly cosine: number;
};

/**
 * Moves a memory in front of the one that it makes outdated, if both are among the best candidates, and marks the older one. The
 * scores of both are adjusted, so that a receipt reproduces the order.
 * @returns the same ranking object if nothing is outdated
 */
export async function newerFirst(
  { store, embedder }: Pick<EngineDeps<Pick<SearchIndex, "ownVectors">>, "store" | "embedder">,
  userId: string,
  ranking: readonly ResultCandidate[],
  policy: RankingPolicy,
): Promise<readonly ResultCandidate[]> {
  const pairs = comparable(ranking.slice(0, COMPARED));
  if (pairs.length === 0) return ranking;
  const { likeMemories } = modelRules(embedder.identity.model);
  const keys = pairs.flatMap(({ newer, older }) => [newer.candidate.key, older.candidate.key]);
  const vectors = await store.ownVectors(userId, [...new Set(keys)]);
  const links = nearestLinks(
    pairs.flatMap(({ newer, older }): Link[] => {
      const one = vectors.get(newer.candidate.key);
      const other = vectors.get(older.candidate.key);
      if (one === undefined || other === undefined) return [];
      const link = {
        newer: newer.candidate,
        older: older.candidate,
        cosine: cosineOf(one, other),
      };
      const cosine = onScale(likeMemories, link.cosine);
      return replaces(newer.statement, older.statement, cosine, isSaid(newer, older)) ? [link] : [];
    }),
  );
  return links.length === 0 ? ranking : reordered(ranking, links, policy);
}

/** The pairs of candidates of which, by their words, one may make the other outdated. */
function comparable(best: readonly ResultCandidate[]): readonly Pair[] {
  const compared = best.flatMap((candidate): Compared[] => {
    const { node, trace, compositeScore } = candidate;
    // A candidate with an inherited score is there for another memory; a score of 0 or less cannot be multiplied.
    if (trace === undefined || compositeScore <= 0 || !isStatement(node)) return [];
    const statement = readStatement(node.content);
    return statement === undefined ? [] : [{ candidate, statement }];
  });
  return compared.flatMap((newer) =>
    compared
      .filter(
        (older) =>
          mayReplace(newer.statement, older.statement, isSaid(newer, older)) &&
          isComparable(newer.candidate, older.candidate) &&
          byAge(older.candidate, newer.candidate) < 0,
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
    one.node.scope === other.node.scope &&
    storedSpeaker(one.node.metadata) === storedSpeaker(other.node.metadata) &&
    (!isQuoted || one.node.sourceType === other.node.sourceType) &&
    // Candidates that a reranker read precede all others, whatever the scores.
    (one.rerankerScore === undefined) === (other.rerankerScore === undefined)
  );
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

/** Each outdated memory with the nearest memory that makes it outdated; of equally near ones the newest. */
function nearestLinks(links: readonly Link[]): readonly Link[] {
  const nearest = new Map<NodeKey, Link>();
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

/** The newer ones moved to the places of the older ones, oldest first; then every older one moved behind, newest first. */
function reordered(
  ranking: readonly ResultCandidate[],
  links: readonly Link[],
  policy: RankingPolicy,
): readonly ResultCandidate[] {
  const current = new Map(ranking.map((candidate) => [candidate.key, candidate]));
  const now = (candidate: ResultCandidate) => current.get(candidate.key) ?? candidate;
  for (const link of links.toSorted((a, b) => byAge(a.older, b.older))) {
    const [newer, older] = [now(link.newer), now(link.older)];
    const factor = older.compositeScore / newer.compositeScore;
    if (factor > 1) current.set(newer.key, { ...newer, ...stepped(newer, factor, older) });
  }
  for (const link of links.toSorted((a, b) => byAge(b.newer, a.newer))) {
    const [newer, older] = [now(link.newer), now(link.older)];
    const factor = Math.min(1, (newer.compositeScore * BEHIND) / older.compositeScore);
    const olderThan = { nodeId: newer.node.id, at: statedTime(newer.node) };
    current.set(older.key, {
      ...older,
      ...stepped(older, factor, newer),
      olderThan,
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

/** Of vectors of length one. */
function cosineOf(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < one.length; index += 1)
    sum += (one[index] ?? 0) * (other[index] ?? 0);
  return sum;
}
