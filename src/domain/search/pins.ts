import type { LifecycleState } from "../enums.ts";
import { isPinned, type MemoryNode } from "../node.ts";

/**
 * The memories that are considered for every context, whatever the question: the newest pinned ones and the newest tasks.
 * Contested memories are not.
 */

/** Memories of either kind, newest first. */
export const PINS_MAX = 500;
/** States in which a memory is considered. */
export const PIN_STATES = ["tentative", "stable"] as const satisfies readonly LifecycleState[];

/** The kinds of such memories; one may be of both. */
export const PIN_KINDS = {
  pinned: isPinned,
  task: (node: MemoryNode): boolean => node.nodeType === "task",
} as const;
