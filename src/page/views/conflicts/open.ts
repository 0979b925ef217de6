import { listContradictions } from "../../client/sdk.gen.ts";
import type { Node, NotedContradiction } from "../../client/types.gen.ts";
import { answered } from "../../data/http.ts";
import { useQuery } from "../../data/query.ts";

/** As many as are shown at once. */
const SHOWN = 100;

/** How many wait for a decision, for the rail. */
export function openConflicts(): number {
  return useOpenContradictions().length;
}

/** Reads the pairs of which somebody has to decide, the oldest first. */
export function useContradictions() {
  return useQuery("contradictions", (user_id) =>
    answered(listContradictions({ query: { user_id, status: "open", limit: SHOWN } })),
  );
}

/** The pairs that wait for a decision, as far as they have been read. */
export function useOpenContradictions(): readonly NotedContradiction[] {
  return useContradictions().data?.contradictions ?? [];
}

/** The pairs that a memory is in, each with the other one. */
export function opponentsOf(
  id: string,
  pairs: readonly NotedContradiction[],
): readonly { readonly pair: NotedContradiction; readonly other: Node }[] {
  return pairs.flatMap((pair) => {
    if (pair.node_a.id === id) return [{ pair, other: pair.node_b }];
    return pair.node_b.id === id ? [{ pair, other: pair.node_a }] : [];
  });
}
