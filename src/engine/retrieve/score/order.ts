import type { ResultCandidate } from "../api.ts";

type Identified = { readonly node: Pick<ResultCandidate["node"], "id"> };
type Placed = Identified & Pick<ResultCandidate, "compositeScore">;

/** By id, ascending: the final tie-break of every order. */
export function compareIds(a: Identified, b: Identified): number {
  return a.node.id < b.node.id ? -1 : a.node.id > b.node.id ? 1 : 0;
}

/** Score descending, then id: the order after scores were inherited. */
export function byScore(a: Placed, b: Placed): number {
  return b.compositeScore - a.compositeScore || compareIds(a, b);
}

/** Score descending, then paths descending, then id: the order of a fresh ranking. */
export function byScoreThenPath(
  a: Placed & Pick<ResultCandidate, "pathScore">,
  b: Placed & Pick<ResultCandidate, "pathScore">,
): number {
  return b.compositeScore - a.compositeScore || b.pathScore - a.pathScore || compareIds(a, b);
}
