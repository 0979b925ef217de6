import type { Hit, KeyedNode } from "../../ports/store.ts";
import type { CandidatePath } from "../results.ts";
import type { CandidateSets } from "./candidates.ts";

/** A memory that at least one search found, with the signal of each. */
export type Candidate = {
  readonly key: number;
  readonly node: KeyedNode["node"];
  readonly paths: readonly CandidatePath[];
  /** Cosine, 0 to 1; negative values count as 0; undefined without a vector to compare. */
  readonly semantic: number | undefined;
  /** BM25 rescaled over this question's hits: best 1, weakest 0; undefined where no word matches. */
  readonly lexical: number | undefined;
};

/** The keys of all hits, without repeats. */
export function hitKeys({ hits }: CandidateSets): number[] {
  return [...new Set([...hits.VECTOR, ...hits.LEXICAL].map(({ key }) => key))];
}

/** Stage 3: one candidate a memory, with the union of its paths. Hits whose memory is not active are dropped. Pure. */
export function merge(sets: CandidateSets, nodes: readonly KeyedNode[]): Candidate[] {
  const cosines = [...sets.hits.VECTOR, ...sets.completed.VECTOR];
  const semantic = new Map(cosines.map(({ key, score }) => [key, Math.max(0, score)]));
  const lexical = rescaled([...sets.hits.LEXICAL, ...sets.completed.LEXICAL]);
  const byVector = new Set(sets.hits.VECTOR.map(({ key }) => key));
  const byText = new Set(sets.hits.LEXICAL.map(({ key }) => key));
  return nodes.map(({ key, node }) => {
    const paths: CandidatePath[] = [];
    if (byVector.has(key)) paths.push("VECTOR");
    if (byText.has(key)) paths.push("LEXICAL");
    return {
      key,
      node,
      paths,
      semantic: semantic.get(key),
      lexical: lexical.get(key),
    };
  });
}

function rescaled(hits: readonly Hit[]): ReadonlyMap<number, number> {
  const scores = hits.map(({ score }) => score);
  const min = Math.min(...scores);
  const range = Math.max(...scores) - min;
  return new Map(hits.map(({ key, score }) => [key, range === 0 ? 1 : (score - min) / range]));
}
