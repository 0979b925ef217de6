import { NaivePack, NaiveStore, RULES, type Rules } from "./naive-store.ts";
import type { Place, RetrievalStore } from "./store-contract.ts";

/** An empty place for a naive store. @param mistakes rules that are to be wrong */
export function naivePlace(mistakes: Partial<Rules> = {}): Place<RetrievalStore> {
  const pack = new NaivePack();
  return {
    open: async ({ clock } = {}) => new NaiveStore(pack, { ...RULES, ...mistakes }, clock),
    seed: {
      nodes: (nodes) => void pack.nodes.push(...nodes),
      edges: (edges) => void pack.edges.push(...edges),
    },
    remove: () => {},
  };
}
