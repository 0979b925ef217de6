import { everythingOf } from "../../domain/candidate-filter.ts";
import { modelRules, onScale } from "../../domain/embedding-models.ts";
import { reasonCode } from "../../domain/errors.ts";
import { isSameText, nearnessTo } from "../../domain/nearness.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { NearNode, SearchIndex } from "../../ports/store/search-index.ts";
import type { EngineDeps } from "../deps.ts";
import type { StoreSteps } from "../write/api.ts";

/** Number of memories to name. */
const NAMED = 3;
/** Number of neighbours to examine: some of them cannot be replaced by the new one. */
const LOOKED_AT = 8;
/** How much too small a cosine may be until those of the few that matter are computed exactly. */
const MARGIN = 0.01;

/** The memories that a new one may replace or repeat, nearest first, once its vector is there; see `StoreSteps`. Never rejects. */
export function lookForNear(
  { store, embedder, warn }: Pick<EngineDeps<SearchIndex>, "store" | "embedder" | "warn">,
  node: MemoryNode,
): ReturnType<StoreSteps["near"]> {
  const nearness = nearnessTo(node);
  const { likeMemories } = modelRules(embedder.identity.model);
  const { userId, scope } = node;
  const nearest = (known: readonly NearNode[], margin: number): readonly NearNode[] =>
    known
      .flatMap((other) => {
        const near = nearness(other.node, onScale(likeMemories, other.cosine + margin));
        return near === undefined ? [] : [{ other, near }];
      })
      .sort((a, b) => b.near - a.near)
      .slice(0, NAMED)
      .map(({ other }) => other);
  // What fails here fails below again.
  const ready = store.readyForNear(userId).catch(() => undefined);
  return async (vector) => {
    if (vector === undefined) return undefined;
    try {
      await ready;
      const question = { userId, scope, count: LOOKED_AT };
      const chosen = await store.nearNodes(vector, question, (about) => nearest(about, MARGIN));
      return nearest(chosen, 0).map(({ node: known, cosine }) => ({
        node: known,
        similarity: Math.min(1, Math.max(0, cosine)),
        identical: isSameText(known.content, node.content),
      }));
    } catch (error) {
      // The cause may contain memory text; only its category leaves this place.
      warn(`store: near memories were not looked for (${reasonCode(error)})`);
      return undefined;
    }
  };
}

/** A memory near another one, with the cosine of their vectors on the scale of the default model. */
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
  { store, embedder }: Pick<EngineDeps<SearchIndex>, "store" | "embedder">,
  { userId, vector, except, count }: NeighbourQuestion,
): Promise<readonly Neighbour[]> {
  const { likeMemories } = modelRules(embedder.identity.model);
  const more = except === undefined ? 0 : 1;
  const hits = await store.searchVectors(vector, everythingOf(userId), count + more);
  const keys = hits.map(({ key }) => key);
  const nodes = new Map(
    (await store.nodesByKey(userId, keys)).map(({ key, node }) => [key, node] as const),
  );
  return hits
    .flatMap(({ key, score }) => {
      const node = nodes.get(key);
      return node === undefined || node.id === except
        ? []
        : [{ node, similarity: onScale(likeMemories, score) }];
    })
    .slice(0, count);
}
