import { reasonCode } from "../domain/errors.ts";
import type { MemoryNode } from "../domain/node.ts";
import { isOfConversation, partsOf } from "../domain/search/turns.ts";
import type { SearchIndex } from "../ports/store/search-index.ts";
import type { EngineDeps } from "./deps.ts";

export type PartsDeps = Pick<EngineDeps<SearchIndex>, "store" | "embedder" | "warn">;

/** Parts passed to the model together. */
const AT_ONCE = 8;

export const PARTS_FAILURE = "parts of long texts have no vectors yet";

/** Embeds the parts of new long texts. A job retries failures at the next opening; until then words and beginnings find them. */
export async function embedParts(deps: PartsDeps, nodes: readonly MemoryNode[]): Promise<void> {
  const long = nodes.filter((node) => partsIn(deps, node).length > 0);
  if (long.length === 0) return;
  try {
    await putParts(deps, long);
  } catch (error) {
    deps.warn(`${PARTS_FAILURE} (${reasonCode(error)})`);
  }
}

/** Turns have no parts: their vectors include their neighbours. */
function partsIn({ embedder }: PartsDeps, node: MemoryNode): readonly string[] {
  const { maxTokens } = embedder;
  return maxTokens === undefined || isOfConversation(node) ? [] : partsOf(node.content, maxTokens);
}

/** @throws SvcError embedding_failed; embedding_mismatch */
export async function putParts(deps: PartsDeps, nodes: readonly MemoryNode[]): Promise<void> {
  for (const node of nodes) {
    const parts = partsIn(deps, node);
    const vectors: Float32Array[] = [];
    for (let at = 0; at < parts.length; at += AT_ONCE) {
      const some = parts.slice(at, at + AT_ONCE);
      vectors.push(...(await Promise.all(some.map((part) => deps.embedder.embedDocument(part)))));
    }
    await deps.store.putParts([{ nodeId: node.id, userId: node.userId, vectors }]);
  }
}
