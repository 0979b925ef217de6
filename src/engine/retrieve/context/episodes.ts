import { wordingOf } from "../../../domain/node.ts";
import type { PackingSettings } from "../../../domain/records/packing.ts";
import { foldCase } from "../../../lib/text.ts";
import type { ResultCandidate } from "../api.ts";
import { adjustment } from "../score/adjust.ts";
import { compareIds } from "../score/order.ts";
import { raisedBy, type Step, toStep, withPath } from "./inherit.ts";

export type EpisodeRules = Pick<
  PackingSettings,
  "episodeContextTopK" | "episodeContextLocalK" | "episodeContextScoreDecay"
>;

/** Candidates of one session, in rank order. */
type Episode = { readonly name: string; readonly members: readonly ResultCandidate[] };

/**
 * Raises the best members of the sessions that answer the question best to nearly the score of their session's best candidate. A
 * session counts from two candidates on. Nothing is added: only candidates in the ranking take part. Pure.
 */
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
    // Scopes contain no blank, so two names are equal only if both parts are.
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

/** BM25 of each document for distinct terms, with rarity measured over these documents alone (Robertson and Zaragoza, 2009). */
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
