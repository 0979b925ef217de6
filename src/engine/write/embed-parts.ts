import { reasonCode } from "../../domain/errors.ts";
import type { MemoryNode } from "../../domain/node.ts";
import { partsOf } from "../../domain/search/parts.ts";
import type { SearchIndex } from "../../ports/store/search-index.ts";
import type { EngineDeps } from "../deps.ts";

export type PartsDeps = Pick<EngineDeps<SearchIndex>, "store" | "embedder" | "warn">;

/** What is reported when parts cannot be embedded. */
export const PARTS_FAILURE = "parts of long texts have no vectors yet";

/**
 * Embeds the parts of long texts that have just become memories. What fails, or is cut off, the job does after the next opening:
 * by the beginnings of the texts and by their words they are found already.
 */
export async function embedParts(deps: PartsDeps, nodes: readonly MemoryNode[]): Promise<void> {
  const long = nodes.filter((node) => partsIn(deps, node).length > 0);
  if (long.length === 0) return;
  try {
    await putParts(deps, long);
  } catch (error) {
    deps.warn(`${PARTS_FAILURE} (${reasonCode(error)})`);
  }
}

function partsIn({ embedder }: PartsDeps, { content }: MemoryNode): readonly string[] {
  return embedder.maxTokens === undefined ? [] : partsOf(content, embedder.maxTokens);
}

/** @throws SvcError embedding_failed, embedding_mismatch, and what the store throws */
export async function putParts(deps: PartsDeps, nodes: readonly MemoryNode[]): Promise<void> {
  for (const node of nodes) {
    const parts = partsIn(deps, node).map((part) => deps.embedder.embedDocument(part));
    const vectors = await Promise.all(parts);
    await deps.store.putParts([{ nodeId: node.id, userId: node.userId, vectors }]);
  }
}
