import { reasonCode } from "../../domain/errors.ts";
import { isSameText, nearnessTo } from "../../domain/nearness.ts";
import type { SearchIndex } from "../../ports/store/search-index.ts";
import type { EngineDeps } from "../deps.ts";
import type { NearMemory, StoredMemory } from "../write/api.ts";
import { findNeighbours } from "./neighbours.ts";

/** Number of memories to name. */
const NAMED = 3;
/** Number of neighbours to examine: some of them cannot be replaced by the new one. */
const LOOKED_AT = 8;

/** The memories that a new one may replace or repeat, nearest first. Undefined: unknown. Never rejects. */
export async function findNear(
  { store, warn }: Pick<EngineDeps<SearchIndex>, "store" | "warn">,
  { node, vector }: Pick<StoredMemory, "node" | "vector">,
): Promise<readonly NearMemory[] | undefined> {
  if (vector === undefined) return undefined;
  try {
    const { userId, scope, id: except } = node;
    // Quick, because a store waits for it.
    const question = { userId, scope, vector, except, count: LOOKED_AT, isQuick: true };
    const nearness = nearnessTo(node);
    const ranked = (await findNeighbours(store, question)).flatMap(
      ({ node: known, similarity }) => {
        const near = nearness(known, similarity);
        return near === undefined ? [] : [{ known, similarity, near }];
      },
    );
    return ranked
      .sort((a, b) => b.near - a.near)
      .slice(0, NAMED)
      .map(({ known, similarity }) => ({
        node: known,
        similarity: Math.min(1, Math.max(0, similarity)),
        identical: isSameText(known.content, node.content),
      }));
  } catch (error) {
    // The cause may contain memory text; only its category leaves this place.
    warn(`store: near memories were not looked for (${reasonCode(error)})`);
    return undefined;
  }
}
