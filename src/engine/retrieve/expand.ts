import type { KeyedNode, SessionWindow } from "../../ports/store.ts";
import type { ResultCandidate } from "../results.ts";
import { compareIds } from "./score.ts";

export type ExpandRules = {
  /** Best candidates whose neighbours are pulled in. */
  readonly topK: number;
  /** Share of the trigger's score that a neighbour inherits, 0 exclusive to 1. */
  readonly decay: number;
};

/** The candidates whose session neighbours are worth having. */
export function triggers(
  ranking: readonly ResultCandidate[],
  topK: number,
): readonly ResultCandidate[] {
  return ranking.slice(0, topK).filter(({ node }) => node.sessionId !== undefined);
}

/**
 * Adds the turns around the best hits, because an answer often stands beside the words that were found. A neighbour
 * inherits a share of its trigger's score, and the trigger's relevance where that is larger. Pure.
 * @param windows neighbours by trigger key; what must not be shown is already left out
 */
export function expandSessions(
  ranking: readonly ResultCandidate[],
  windows: ReadonlyMap<number, SessionWindow>,
  rules: ExpandRules,
): readonly ResultCandidate[] {
  const pool = new Map(ranking.map((candidate) => [candidate.key, candidate]));
  let changed = false;
  for (const trigger of triggers(ranking, rules.topK)) {
    const window = windows.get(trigger.key);
    if (window === undefined) continue;
    for (const neighbour of [...window.before, ...window.after]) {
      const inherited = trigger.compositeScore * rules.decay;
      const present = pool.get(neighbour.key);
      pool.set(neighbour.key, inherit(present, neighbour, trigger, inherited));
      changed ||= present === undefined || inherited > present.compositeScore;
    }
  }
  const expanded = [...pool.values()];
  return changed
    ? expanded.sort((a, b) => b.compositeScore - a.compositeScore || compareIds(a, b))
    : expanded;
}

function inherit(
  present: ResultCandidate | undefined,
  neighbour: KeyedNode,
  trigger: ResultCandidate,
  inherited: number,
): ResultCandidate {
  if (present === undefined) {
    return {
      ...neighbour,
      compositeScore: inherited,
      pathScore: 1 / 3,
      paths: ["SESSION_CONTEXT"],
      semanticRelevance: trigger.semanticRelevance,
      trace: undefined,
    };
  }
  const raised = inherited > present.compositeScore;
  return {
    ...present,
    paths: present.paths.includes("SESSION_CONTEXT")
      ? present.paths
      : [...present.paths, "SESSION_CONTEXT"],
    compositeScore: raised ? inherited : present.compositeScore,
    trace: raised ? undefined : present.trace,
    semanticRelevance: Math.max(present.semanticRelevance, trigger.semanticRelevance),
  };
}
