import { passesFilter } from "../../src/domain/candidate-filter.ts";
import { naivePlace } from "./naive-place.ts";
import type { Rules } from "./naive-store.ts";
import { runRetrievalContract } from "./store-contract.ts";

/** A rule that is wrong, and the test of the contract that has to notice. */
type Mistake = { readonly rules: Partial<Rules>; readonly caughtBy: string };

export const MISTAKES: Readonly<Record<string, Mistake>> = {
  "finds what belongs to another owner": {
    rules: { passes: (node, filter) => passesFilter(node, { ...filter, userId: node.userId }) },
    caughtBy: "vector search > never shows an owner what belongs to another",
  },
  "orders equal hits by descending key": {
    rules: { bestFirst: (a, b) => b.score - a.score || b.key - a.key },
    caughtBy: "lexical search > orders equal hits by key and takes the first ones",
  },
  "takes two hops for 0.6": {
    rules: { proximity: (hops) => [0, 1, 0.6, 0.4][hops] ?? 0 },
    caughtBy:
      "a walk over edges > goes from the named entities in both directions, up to three hops",
  },
  "finds inactive memories": {
    rules: { isFindable: () => true },
    caughtBy:
      "a memory that is retired > is in neither index once it is archived, also for another store that searched before",
  },
  "finds memories whose retention ended": {
    rules: {
      passes: (node, { aliveAt: _, ...filter }) => passesFilter(node, filter),
    },
    caughtBy:
      "a search for memories that are kept > leaves out those whose retention ended, to the microsecond",
  },
  "weighs words by their rarity among all owners' memories": {
    rules: { collection: (documents) => documents },
    caughtBy: "lexical search > weighs words by their rarity among the owner's own memories",
  },
  "lets a vector lean towards two turns on either side": {
    rules: { leanReach: 2 },
    caughtBy: "the vector of a turn > leans by 0.25 towards those of the turns before and after it",
  },
  "gives the vectors of another owner's memories": {
    rules: { isOwned: () => true },
    caughtBy:
      "the own vectors of an owner's active memories lean towards nothing and have length one",
  },
  "walks along edges that have ended": {
    rules: { isWalkable: () => true },
    caughtBy:
      "a walk over edges > uses edges and finds nodes that hold at the moment of the question",
  },
};

// Run by planted-mistakes.test.ts in a process of its own, where the tests of the contract may fail.
if (process.env["PLANTED_MISTAKES"] !== undefined) {
  for (const [name, { rules }] of Object.entries(MISTAKES)) {
    runRetrievalContract(name, () => naivePlace(rules));
  }
}
