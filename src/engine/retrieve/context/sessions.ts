import type { PackingSettings } from "../../../domain/records/packing.ts";
import type { KeyedNode, NodeKey, SessionWindow } from "../../../ports/store/search-index.ts";
import type { ResultCandidate } from "../api.ts";
import { adjustment } from "../score/adjust.ts";
import { addedBy, raisedBy, type Step, toStep, withPath } from "./inherit.ts";

export type SessionRules = Pick<
  PackingSettings,
  | "sessionContextTopK"
  | "sessionContextScoreDecay"
  | "sessionContextRankFusionScoreDecay"
  | "sessionContextPacking"
>;

/** A memory of the same session, this many positions after the trigger, or before it if negative. */
export type Neighbour = KeyedNode & { readonly offset: number };

/** The candidates whose session neighbours are added. */
export function triggers(
  ranking: readonly ResultCandidate[],
  topK: number,
): readonly ResultCandidate[] {
  return ranking.slice(0, topK).filter(({ node }) => node.sessionId !== undefined);
}

/** The neighbours in a window with their positions, in session order. */
export function neighbours({ before, after }: SessionWindow): readonly Neighbour[] {
  return [
    ...before.map((neighbour, index) => ({ ...neighbour, offset: -1 - index })).reverse(),
    ...after.map((neighbour, index) => ({ ...neighbour, offset: 1 + index })),
  ];
}

/**
 * Adds the turns around the best hits, because an answer is often next to the words that were found. A neighbour inherits a share
 * of its trigger's score, and the trigger's relevance, if these exceed its own. Triggers pass on their original score: it is
 * inherited once, never from neighbour to neighbour. Pure.
 * @param windows neighbours by trigger key; what must not be shown is left out already
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

/** The highest-ranked trigger comes first, and its link stays. */
function linked(
  candidate: ResultCandidate,
  trigger: ResultCandidate,
  { offset }: Neighbour,
  { sessionContextPacking: packing }: SessionRules,
): ResultCandidate {
  if (packing === undefined || candidate.sessionLink !== undefined) return candidate;
  return { ...candidate, sessionLink: { triggerId: trigger.node.id, offset } };
}
