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

/**
 * Which memories a request shows, so that its turns may correct them. One memory has one label, in the order in which turns need it.
 * @param nearest for each turn of the request, in order: memories of its owner and scope, the nearest first
 */
export function memoriesToShow(
  turns: readonly Turn[],
  nearest: readonly (readonly MemoryNode[])[],
): readonly ShownMemory[] {
  const shown = new Map<Uuid, { label: string; turns: number[] }>();
  for (const [index, turn] of turns.entries()) {
    const fitting = (nearest[index] ?? []).filter(
      (node) => isCorrectable(node) && effectiveTime(node) <= turn.at,
    );
    for (const { id } of fitting.slice(0, SHOWN_PER_TURN)) {
      const known = shown.get(id);
      if (known !== undefined) known.turns.push(index + 1);
      else if (shown.size < SHOWN_PER_REQUEST) {
        shown.set(id, { label: `m${shown.size + 1}`, turns: [index + 1] });
      }
    }
  }
  return Array.from(shown, ([nodeId, { label, turns: places }]) => ({
    label,
    nodeId,
    turns: places,
  }));
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
