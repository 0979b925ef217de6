import { reasonCode } from "../../domain/errors.ts";
import { isSameText, nearnessTo } from "../../domain/nearness.ts";
import type { MemoryNode } from "../../domain/node.ts";
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
  { store, warn }: Pick<EngineDeps<SearchIndex>, "store" | "warn">,
  node: MemoryNode,
): ReturnType<StoreSteps["near"]> {
  const nearness = nearnessTo(node);
  const { userId, scope } = node;
  const nearest = (known: readonly NearNode[], margin: number): readonly NearNode[] =>
    known
      .flatMap((other) => {
        const near = nearness(other.node, other.cosine + margin);
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
