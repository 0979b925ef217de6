import type { ConditionState } from "../../../domain/enums.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { EXCERPT_CHARS, nodeLine } from "../core/tool-text.ts";

type Pair = readonly [MemoryNode, MemoryNode];

const line = (node: MemoryNode): string => nodeLine(node, EXCERPT_CHARS);

export function tellPromoted(node: MemoryNode): string {
  return `Stable now: ${line(node)}`;
}

export function tellArchived(node: MemoryNode): string {
  return `Archived; it is no longer found: ${line(node)}`;
}

export function tellRestored(node: MemoryNode): string {
  return `Restored; it is found again: ${line(node)}`;
}

export function tellCondition(node: MemoryNode, state: ConditionState): string {
  return `Recorded, condition ${state}: ${line(node)}`;
}

export function tellSuperseded([old, replacement]: Pair): string {
  return `Replaced; the first is no longer found:\n${line(old)}\n${line(replacement)}`;
}

export function tellContradicted([first, second]: Pair): string {
  return `Contested now; both are still found. End it with memory_resolve_contradiction:\n${line(first)}\n${line(second)}`;
}

export function tellResolved([winner, loser]: Pair): string {
  return `Resolved; the first is stable, the second is no longer found:\n${line(winner)}\n${line(loser)}`;
}
