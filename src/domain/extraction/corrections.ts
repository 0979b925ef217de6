import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { MemoryNode } from "../node.ts";
import { effectiveTime } from "./plan/nodes.ts";
import { isCorrectable } from "./plan/updates.ts";
import type { DropTally } from "./reasons.ts";
import type { ShownMemory } from "./records.ts";
import type { ExtractionResult } from "./result.ts";
import type { Turn } from "./turn.ts";

/** Memories that are shown for one turn, and for all turns of a request. */
const SHOWN_PER_TURN = 5;
const SHOWN_PER_REQUEST = 20;

/** A memory that a request shows, with what is shown of it. */
export type ShownText = ShownMemory & { readonly text: string; readonly at: Instant };

/**
 * Which memories a request shows, so that its turns may correct them. One memory has one label, in the order in which turns need it.
 * @param nearest for each turn of the request, in order: memories of its owner and scope, the nearest first
 */
export function memoriesToShow(
  turns: readonly Turn[],
  nearest: readonly (readonly MemoryNode[])[],
): readonly ShownText[] {
  const shown = new Map<Uuid, ShownText & { readonly turns: number[] }>();
  for (const [index, turn] of turns.entries()) {
    const fitting = (nearest[index] ?? []).filter(
      (node) => isCorrectable(node) && effectiveTime(node) <= turn.at,
    );
    for (const node of fitting.slice(0, SHOWN_PER_TURN)) {
      const known = shown.get(node.id);
      if (known !== undefined) known.turns.push(index + 1);
      else if (shown.size < SHOWN_PER_REQUEST) {
        const label = `m${shown.size + 1}`;
        const at = effectiveTime(node);
        shown.set(node.id, { label, nodeId: node.id, turns: [index + 1], text: node.content, at });
      }
    }
  }
  return [...shown.values()];
}

/** The result with the labels of shown memories resolved. A label that was not shown goes, its claim stays. */
export function withCorrections(
  result: ExtractionResult,
  shown: readonly ShownMemory[],
  tally: DropTally,
): ExtractionResult {
  const byLabel = new Map(shown.map(({ label, nodeId }) => [label, nodeId]));
  return {
    ...result,
    claims: result.claims.map((claim) => {
      const { replacesMemory, ...rest } = claim;
      if (replacesMemory === undefined) return claim;
      const replacesNodeId = byLabel.get(replacesMemory.trim());
      if (replacesNodeId === undefined) tally.add("memory_not_shown");
      return { ...rest, replacesMemory: undefined, replacesNodeId };
    }),
  };
}
