import type { Fusion } from "../../domain/scoring.ts";
import type { Exclusion, ResultCandidate } from "./api.ts";

export type SelectionRules = {
  /** Decides what is compared with the floor: the score of a weighted sum, else the semantic relevance. */
  readonly fusion: Fusion["kind"];
  /** Inclusive floor; undefined and 0 drop nothing. */
  readonly minScore: number | undefined;
  readonly limit: number | undefined;
  /** Results with the same evidence and the same text; at least 1. */
  readonly maxPerSource: number | undefined;
  /** Results with the same evidence; at least 1. */
  readonly maxPerEvidence: number | undefined;
  /** The vector search failed, so no relevance is known. */
  readonly vectorFailed: boolean;
};

export type Selection = {
  readonly results: readonly ResultCandidate[];
  readonly excluded: readonly Exclusion[];
  /** The floor was not applied, because nothing has a relevance to compare. */
  readonly minScoreSkipped: boolean;
};

/** Whether a candidate's score, or its relevance under a fusion of rankings, is at or above a floor. Everything reaches 0. */
export function reachesFloor(
  { compositeScore, semanticRelevance }: ResultCandidate,
  minScore: number | undefined,
  fusion: Fusion["kind"],
): boolean {
  if (minScore === undefined || minScore === 0) return true;
  return (fusion === "weighted" ? compositeScore : semanticRelevance) >= minScore;
}

/** Whether the floor cannot be applied: it compares relevances, which are unknown without the vector search. */
export function skipsFloor(
  ranking: readonly ResultCandidate[],
  {
    fusion,
    minScore = 0,
    vectorFailed,
  }: Pick<SelectionRules, "fusion" | "minScore" | "vectorFailed">,
): boolean {
  return (
    minScore > 0 &&
    fusion !== "weighted" &&
    vectorFailed &&
    ranking.every(({ semanticRelevance }) => semanticRelevance === 0)
  );
}

/**
 * Walks the ranking and keeps what reaches the floor, up to the caps and the limit; the first reason wins, and dropped candidates
 * use up no cap. Memories without evidence are under no cap. Pure.
 */
export function select(ranking: readonly ResultCandidate[], rules: SelectionRules): Selection {
  const minScoreSkipped = skipsFloor(ranking, rules);
  const floor = minScoreSkipped ? undefined : rules.minScore;
  const sources = new Tally(rules.maxPerSource);
  const evidence = new Tally(rules.maxPerEvidence);
  const limit = rules.limit ?? Number.POSITIVE_INFINITY;
  const results: ResultCandidate[] = [];
  const excluded: Exclusion[] = [];
  for (const candidate of ranking) {
    const kind = kindOf(candidate);
    const reason = firstReason([
      ["below_threshold", !reachesFloor(candidate, floor, rules.fusion)],
      ["source_limit", sources.isFull(kind.source)],
      ["evidence_limit", evidence.isFull(kind.evidence)],
      ["result_limit", results.length >= limit],
    ]);
    if (reason !== undefined) {
      excluded.push(exclusion(candidate, reason, rules.fusion));
      continue;
    }
    results.push(candidate);
    sources.add(kind.source);
    evidence.add(kind.evidence);
  }
  return { results, excluded, minScoreSkipped };
}

/** Names that are equal for the same evidence, and for the same evidence and text; blank without evidence. */
function kindOf({ node }: ResultCandidate): { readonly evidence: string; readonly source: string } {
  const evidence = [...new Set(node.evidenceRefs)].sort().join(" ");
  // Identifiers contain no line break, so the two parts cannot merge.
  return { evidence, source: evidence && `${evidence}\n${node.content}` };
}

function firstReason(reasons: readonly (readonly [string, boolean])[]): string | undefined {
  return reasons.find(([, applies]) => applies)?.[0];
}

function exclusion(
  { node, compositeScore, semanticRelevance }: ResultCandidate,
  reason: string,
  fusion: Fusion["kind"],
): Exclusion {
  const scored = { nodeId: node.id, reason, compositeScore };
  return fusion === "weighted" ? scored : { ...scored, semanticRelevance };
}

/** Counts the kept candidates of each kind, up to a cap; the blank name is not a kind. */
class Tally {
  readonly #kept = new Map<string, number>();
  readonly #cap: number | undefined;

  constructor(cap: number | undefined) {
    this.#cap = cap;
  }

  isFull(name: string): boolean {
    return this.#cap !== undefined && name !== "" && (this.#kept.get(name) ?? 0) >= this.#cap;
  }

  add(name: string): void {
    // Without a cap the count is not needed, and hashing a long text is not worth it.
    if (this.#cap !== undefined) this.#kept.set(name, (this.#kept.get(name) ?? 0) + 1);
  }
}
