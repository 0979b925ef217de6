import type { KeyedNode } from "../../ports/store.ts";
import type { CandidatePath } from "../results.ts";
import type { CandidateSets } from "./candidates.ts";

/** A memory that at least one search found, with the signal of each. */
export type Candidate = {
  readonly key: number;
  readonly node: KeyedNode["node"];
  readonly paths: readonly CandidatePath[];
  /** Cosine, 0 to 1; negative values count as 0. */
  readonly semantic: number;
  /** BM25 rescaled over this question's hits: best 1, weakest 0. */
  readonly lexical: number;
};

/** The keys of all hits, without repeats. */
export function hitKeys({ hits }: CandidateSets): number[] {
  return [...new Set([...hits.VECTOR, ...hits.LEXICAL].map(({ key }) => key))];
}

/** Stage 3: one candidate a memory, with the union of its paths. Hits whose memory is not active are dropped. Pure. */
export function merge(sets: CandidateSets, nodes: readonly KeyedNode[]): Candidate[] {
  const semantic = new Map(sets.hits.VECTOR.map(({ key, score }) => [key, Math.max(0, score)]));
  const lexical = rescaled(sets);
  return nodes.map(({ key, node }) => {
    const paths: CandidatePath[] = [];
    if (semantic.has(key)) paths.push("VECTOR");
    if (lexical.has(key)) paths.push("LEXICAL");
    return {
      key,
      node,
      paths,
      semantic: semantic.get(key) ?? 0,
      lexical: lexical.get(key) ?? 0,
    };
  });
}

function rescaled({ hits }: CandidateSets): ReadonlyMap<number, number> {
  const scores = hits.LEXICAL.map(({ score }) => score);
  const min = Math.min(...scores);
  const range = Math.max(...scores) - min;
  return new Map(
    hits.LEXICAL.map(({ key, score }) => [key, range === 0 ? 1 : (score - min) / range]),
  );
}
