import type { LifecycleState } from "../enums.ts";
import { isPinned, type MemoryNode } from "../node.ts";

/**
 * The memories that have a claim of their own to a context, whatever the question: the newest pinned ones and the newest tasks.
 * A contested memory has none.
 */

/** Memories of either kind, newest first. */
export const PINS_MAX = 500;
/** States in which a memory has the claim. */
export const PIN_STATES = ["tentative", "stable"] as const satisfies readonly LifecycleState[];

/** The kinds of the claim; a memory may be of both. */
export const PIN_KINDS = {
  pinned: isPinned,
  task: (node: MemoryNode): boolean => node.nodeType === "task",
} as const;
