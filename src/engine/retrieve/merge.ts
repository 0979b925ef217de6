import type { CandidatePath } from "../../domain/records/retrieval-record.ts";
import type { Hit, KeyedNode, NodeKey, TextHit } from "../../ports/store/search-index.ts";
import type { CandidateSets } from "./candidates.ts";

/** A memory that at least one search found, with its signals. */
export type Candidate = {
  readonly key: NodeKey;
  readonly node: KeyedNode["node"];
  readonly paths: readonly CandidatePath[];
  /** Cosine, 0 to 1; negative values count as 0; undefined without a vector to compare. */
  readonly semantic: number | undefined;
  /** BM25 rescaled over this question's hits: best 1, weakest 0; undefined if no word matches. */
  readonly lexical: number | undefined;
  /** Its BM25 as a share of the rarity of all words of the question, 0 to 1; undefined if no word matches. */
  readonly coverage: number | undefined;
  /** How surely the words of the question point to a few memories, 0 to 1; undefined if no word matches. */
  readonly certainty: number | undefined;
  /** 1, 0.7 or 0.4 by hops from an entity of the question; 0 elsewhere. */
  readonly graph: number;
};

/** The keys of everything that was found, without repeats. */
export function foundKeys({ hits, scanned }: CandidateSets): NodeKey[] {
  const keys = Object.values(hits).flatMap((list) => list.map(({ key }) => key));
  return [...new Set([...keys, ...scanned])];
}

/** Stage 3: one candidate per memory, with the union of its paths. Hits whose memory is not active are dropped. Pure. */
export function merge(sets: CandidateSets, nodes: readonly KeyedNode[]): Candidate[] {
  const { GRAPH, VECTOR, LEXICAL, PINNED } = sets.hits;
  const semantic = scores([...VECTOR, ...sets.completed.VECTOR]);
  const byWords = [...LEXICAL, ...sets.completed.LEXICAL];
  const lexical = rescaled(byWords);
  const coverage = new Map(byWords.map((hit) => [hit.key, Math.fround(Math.min(1, hit.coverage))]));
  const certainty = certaintyOf(byWords);
  const graph = scores(GRAPH);
  const byText = [...LEXICAL.map(({ key }) => key), ...sets.scanned];
  const found: readonly (readonly [CandidatePath, ReadonlySet<NodeKey>])[] = [
    ["GRAPH", keysOf(GRAPH)],
    ["VECTOR", keysOf(VECTOR)],
    ["LEXICAL", new Set(byText)],
    ["PINNED", keysOf(PINNED)],
  ];
  return nodes.map(({ key, node }) => ({
    key,
    node,
    paths: found.filter(([, keys]) => keys.has(key)).map(([path]) => path),
    semantic: semantic.get(key),
    lexical: lexical.get(key),
    coverage: coverage.get(key),
    certainty: lexical.has(key) ? certainty : undefined,
    graph: graph.get(key) ?? 0,
  }));
}

/** As many memories have a word in common that only one turn of a conversation says: two on either side, and itself. */
const FEW = 5;

/**
 * How surely the words of a question point to a few memories, 0 to 1 in single precision: all words are known, and the score of the
 * best hit stands far above that of the sixth. Short of four fifths of either it falls; with half of either it is 0.
 */
function certaintyOf(hits: readonly TextHit[]): number {
  const coverages = hits.map(({ coverage }) => coverage).sort((a, b) => b - a);
  const [best = 0, sixth = 0] = [coverages[0], coverages[FEW]];
  const lead = best === 0 ? 0 : 1 - sixth / best;
  return Math.fround(beyondHalf(hits[0]?.known ?? 0) * beyondHalf(lead));
}

/** 0 up to a half, 1 from four fifths, linear between them. */
function beyondHalf(share: number): number {
  return Math.min(1, Math.max(0, (share - 0.5) / 0.3));
}

function keysOf(hits: readonly Hit[]): ReadonlySet<NodeKey> {
  return new Set(hits.map(({ key }) => key));
}

function scores(hits: readonly Hit[]): ReadonlyMap<NodeKey, number> {
  return new Map(hits.map(({ key, score }) => [key, Math.max(0, score)]));
}

/** In single precision, like cosines: more digits would carry no information and make every receipt larger. */
function rescaled(hits: readonly Hit[]): ReadonlyMap<NodeKey, number> {
  const values = hits.map(({ score }) => score);
  const min = Math.min(...values);
  const range = Math.max(...values) - min;
  const share = (score: number) => (range === 0 ? 1 : Math.fround((score - min) / range));
  return new Map(hits.map(({ key, score }) => [key, share(score)]));
}
