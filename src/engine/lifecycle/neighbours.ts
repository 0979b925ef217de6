import type { CandidateFilter } from "../../domain/candidate-filter.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { SearchIndex } from "../../ports/store/search-index.ts";

/** A memory near another one, with the cosine of their vectors. */
export type Neighbour = { readonly node: MemoryNode; readonly similarity: number };

type NeighbourQuestion = {
  readonly userId: string;
  readonly vector: Float32Array;
  /** Excluded: not its own neighbour. */
  readonly except?: Uuid;
  readonly count: number;
};

/**
 * The active memories of an owner with the nearest vectors, best first.
 * @throws SvcError embedding_mismatch; what the store throws
 */
export async function findNeighbours(
  store: SearchIndex,
  { userId, vector, except, count }: NeighbourQuestion,
): Promise<readonly Neighbour[]> {
  const more = except === undefined ? 0 : 1;
  const hits = await store.searchVectors(vector, filterFor(userId), count + more);
  const keys = hits.map(({ key }) => key);
  const nodes = new Map(
    (await store.nodesByKey(userId, keys)).map(({ key, node }) => [key, node] as const),
  );
  return hits
    .flatMap(({ key, score }) => {
      const node = nodes.get(key);
      return node === undefined || node.id === except ? [] : [{ node, similarity: score }];
    })
    .slice(0, count);
}

function filterFor(userId: string): CandidateFilter {
  return {
    userId,
    scopes: undefined,
    excludeNodeTypes: undefined,
    sourceTypes: undefined,
    knowledgeAt: undefined,
    eventTimeFrom: undefined,
    eventTimeTo: undefined,
    timeFrom: undefined,
    timeTo: undefined,
  };
}
