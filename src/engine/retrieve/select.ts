import { wholeOf } from "../../domain/beginning.ts";
import type { Fusion } from "../../domain/scoring.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { NodeKey } from "../../ports/store/search-index.ts";
import type { Exclusion, ResultCandidate } from "./api.ts";

export type SelectionRules = {
  /** `weighted` compares the score with the floor, others the semantic relevance. */
  readonly fusion: Fusion["kind"];
  /** Inclusive; undefined and 0 drop nothing. */
  readonly minScore: number | undefined;
  readonly limit: number | undefined;
  /** Maximum results with the same evidence and text, at least 1. */
  readonly maxPerSource: number | undefined;
  /** Maximum results with the same evidence, at least 1. */
  readonly maxPerEvidence: number | undefined;
  /** No relevance is known. */
  readonly vectorFailed: boolean;
};

export type Selection = {
  readonly results: readonly ResultCandidate[];
  readonly excluded: readonly Exclusion[];
  readonly minScoreSkipped: boolean;
};

export function reachesFloor(
  { compositeScore, semanticRelevance }: ResultCandidate,
  minScore: number | undefined,
  fusion: Fusion["kind"],
): boolean {
  if (minScore === undefined || minScore === 0) return true;
  return (fusion === "weighted" ? compositeScore : semanticRelevance) >= minScore;
}

/** Without the vector search there is no relevance to compare. */
function skipsFloor(
  ranking: readonly ResultCandidate[],
  given: Pick<SelectionRules, "fusion" | "minScore" | "vectorFailed">,
): boolean {
  const { fusion, minScore = 0, vectorFailed } = given;
  return (
    minScore > 0 &&
    fusion !== "weighted" &&
    vectorFailed &&
    ranking.every(({ semanticRelevance }) => semanticRelevance === 0)
  );
}

/** Keeps what reaches the floor, up to the caps and the limit. Both sides of a dispute are kept, or neither; an outdated memory only with what outdates it. */
export function select(given: readonly ResultCandidate[], rules: SelectionRules): Selection {
  const minScoreSkipped = skipsFloor(given, rules);
  if (takesAll(given, rules)) return { results: given, excluded: [], minScoreSkipped };
  const isFloored = (rules.minScore ?? 0) > 0 && rules.fusion !== "weighted";
  const ranking = isFloored ? withRelevanceOfOlder(given) : given;
  const floor = minScoreSkipped ? undefined : rules.minScore;
  const kept = new Kept({ ...rules, minScore: floor });
  const sides = otherSides(ranking);
  const byId = new Map(
    sides.size === 0 ? [] : ranking.map((candidate) => [candidate.node.id, candidate]),
  );
  const excluded: Exclusion[] = [];
  for (const candidate of ranking) {
    if (kept.has(candidate)) continue;
    const refusal = kept.refusal(candidate);
    if (refusal !== undefined) {
      excluded.push(exclusion(candidate, refusal, rules.fusion));
      continue;
    }
    const others = withOtherSides(candidate.node.id, sides)
      .slice(1)
      .flatMap((id) => byId.get(id) ?? [])
      .filter((other) => !kept.has(other));
    const { olderThan } = candidate;
    // An outdated memory is never kept without what outdates it.
    const isAlone = olderThan && excluded.some(({ nodeId }) => nodeId === olderThan.nodeId);
    if (isAlone || !kept.add([candidate, ...others])) {
      excluded.push(exclusion(candidate, "one_sided", rules.fusion));
    }
  }
  return { results: ranking.filter((candidate) => kept.has(candidate)), excluded, minScoreSkipped };
}

/** A memory that outdates another gets at least its relevance, so that the floor does not separate them. */
function withRelevanceOfOlder(ranking: readonly ResultCandidate[]): readonly ResultCandidate[] {
  const relevances = new Map<Uuid, number>();
  // The oldest of a chain comes last.
  for (const { node, olderThan, semanticRelevance } of ranking.toReversed()) {
    if (olderThan === undefined) continue;
    const { nodeId } = olderThan;
    const own = Math.max(semanticRelevance, relevances.get(node.id) ?? 0);
    relevances.set(nodeId, Math.max(own, relevances.get(nodeId) ?? 0));
  }
  return relevances.size === 0
    ? ranking
    : ranking.map((candidate) => {
        const { semanticRelevance: own } = candidate;
        const relevance = Math.max(own, relevances.get(candidate.node.id) ?? own);
        return relevance === own ? candidate : { ...candidate, semanticRelevance: relevance };
      });
}

function takesAll(
  { length }: readonly ResultCandidate[],
  { minScore, limit = length, maxPerSource, maxPerEvidence }: SelectionRules,
): boolean {
  const isCapped = (maxPerSource ?? maxPerEvidence) !== undefined;
  return (minScore ?? 0) === 0 && limit >= length && !isCapped;
}

class Kept {
  readonly #rules: Omit<SelectionRules, "vectorFailed">;
  readonly #sources: Tally;
  readonly #evidence: Tally;
  readonly #kept = new Set<ResultCandidate>();

  constructor(rules: Omit<SelectionRules, "vectorFailed">) {
    this.#rules = rules;
    this.#sources = new Tally(rules.maxPerSource);
    this.#evidence = new Tally(rules.maxPerEvidence);
  }

  has(candidate: ResultCandidate): boolean {
    return this.#kept.has(candidate);
  }

  /** Undefined: it can be kept. */
  refusal(candidate: ResultCandidate): string | undefined {
    const { minScore, fusion, limit = Number.POSITIVE_INFINITY } = this.#rules;
    if (!reachesFloor(candidate, minScore, fusion)) return "below_threshold";
    const kind = this.#kindOf(candidate);
    if (kind !== undefined && this.#sources.isFull(kind.source)) return "source_limit";
    if (kind !== undefined && this.#evidence.isFull(kind.evidence)) return "evidence_limit";
    return this.#kept.size >= limit ? "result_limit" : undefined;
  }

  /** Keeps all of these or none. @returns whether they are kept */
  add(candidates: readonly ResultCandidate[]): boolean {
    const added: ResultCandidate[] = [];
    for (const candidate of candidates) {
      if (this.refusal(candidate) !== undefined) {
        for (const one of added) this.#count(one, -1);
        return false;
      }
      this.#count(candidate, 1);
      added.push(candidate);
    }
    return true;
  }

  #count(candidate: ResultCandidate, by: 1 | -1): void {
    if (by === 1) this.#kept.add(candidate);
    else this.#kept.delete(candidate);
    const kind = this.#kindOf(candidate);
    if (kind === undefined) return;
    this.#sources.count(kind.source, by);
    this.#evidence.count(kind.evidence, by);
  }

  /** Undefined if no kind is capped, to avoid building a name. */
  #kindOf(candidate: ResultCandidate): ReturnType<typeof kindOf> | undefined {
    const { maxPerSource, maxPerEvidence } = this.#rules;
    return (maxPerSource ?? maxPerEvidence) === undefined ? undefined : kindOf(candidate);
  }
}

/** Blank without evidence. */
function kindOf({ node }: ResultCandidate): { readonly evidence: string; readonly source: string } {
  const evidence = [...new Set(node.evidenceRefs)].sort().join(" ");
  // Ids contain no line break.
  return { evidence, source: evidence && `${evidence}\n${wholeOf(node).sha256 ?? node.content}` };
}

function exclusion(
  { node, compositeScore, semanticRelevance }: ResultCandidate,
  reason: string,
  fusion: Fusion["kind"],
): Exclusion {
  const { id: nodeId } = node;
  return fusion === "weighted"
    ? { nodeId, reason, compositeScore }
    : { nodeId, reason, compositeScore, semanticRelevance };
}

/** Counts per kind, up to a cap; the empty kind is not counted. */
class Tally {
  readonly #kept = new Map<string, number>();
  readonly #cap: number | undefined;

  constructor(cap: number | undefined) {
    this.#cap = cap;
  }

  isFull(name: string): boolean {
    return this.#cap !== undefined && name !== "" && (this.#kept.get(name) ?? 0) >= this.#cap;
  }

  count(name: string, by: 1 | -1): void {
    // Avoids hashing a long text needlessly.
    if (this.#cap !== undefined) this.#kept.set(name, (this.#kept.get(name) ?? 0) + by);
  }
}

export function contested(ranking: readonly ResultCandidate[]): readonly ResultCandidate[] {
  return ranking.filter(({ node }) => node.lifecycleState === "contested");
}

/** The other side of each contested candidate, if present: what it contradicts, else what contradicts it. */
export function otherSides(
  candidates: readonly Pick<ResultCandidate, "node" | "contradictsId">[],
): ReadonlyMap<Uuid, Uuid> {
  const disputed = candidates.filter(({ contradictsId }) => contradictsId !== undefined);
  if (disputed.length === 0) return new Map();
  const present = new Set(candidates.map(({ node }) => node.id));
  const pairs = disputed.flatMap(({ node, contradictsId }) =>
    contradictsId !== undefined && present.has(contradictsId)
      ? [[node.id, contradictsId] as const]
      : [],
  );
  const contradicted = pairs.map(([id, other]) => [other, id] as const).reverse();
  return new Map([...contradicted, ...pairs]);
}

/** A candidate and all its other sides, itself first. */
export function withOtherSides(id: Uuid, sides: ReadonlyMap<Uuid, Uuid>): readonly Uuid[] {
  const group = new Set<Uuid>();
  for (let next: Uuid | undefined = id; next !== undefined && !group.has(next); ) {
    group.add(next);
    next = sides.get(next);
  }
  return [...group];
}

/** Flags contested candidates with a recorded contradiction. @param others the other side by key */
export function flagConflicts(
  ranking: readonly ResultCandidate[],
  others: ReadonlyMap<NodeKey, Uuid>,
): readonly ResultCandidate[] {
  if (others.size === 0) return ranking;
  return ranking.map((candidate) => {
    const contradictsId = others.get(candidate.key);
    return contradictsId === undefined
      ? candidate
      : { ...candidate, conflictFlag: true, contradictsId };
  });
}
