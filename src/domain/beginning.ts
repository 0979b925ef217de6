import { sha256Hex } from "../lib/hashing.ts";
import { releaseMemory } from "../lib/pause.ts";
import { LIMITS } from "./arguments.ts";
import type { MemoryNode } from "./node.ts";
import { SEARCH_READ } from "./search/pages.ts";

/** Properties of the whole text of a shortened memory: lengths in UTF-16 units, and its hash. */
export type Whole = {
  readonly content?: number | undefined;
  readonly metadata?: number | undefined;
  readonly sha256?: string | undefined;
};

const wholes = new WeakMap<MemoryNode, Whole>();

/** For a copy with a shortened text: properties of the whole text; empty for any other memory. */
export function wholeOf(node: MemoryNode): Whole {
  return wholes.get(node) ?? {};
}

export function asBeginning(copy: MemoryNode, whole: Whole): MemoryNode {
  wholes.set(copy, whole);
  return copy;
}

/** The first UTF-16 units of a text, without half a character at its end. Does not keep the rest in memory. */
export function beginning(text: string, chars: number): string {
  const last = text.charCodeAt(chars - 1);
  const end = last >= 0xd800 && last < 0xdc00 ? chars - 1 : chars;
  return Buffer.from(text.slice(0, end)).toString();
}

/** Whether a memory cannot appear in a context: its text exceeds every budget, or is shortened. */
export function isTooLongForContext(node: MemoryNode): boolean {
  return node.content.length > LIMITS.contextTextChars || wholeOf(node).content !== undefined;
}

type Row = { readonly content: string; readonly metadata: string | null };

/**
 * Reads memories with long texts for a question, one by one. A text too long for any context is read only far enough to know that; beyond
 * `LIMITS.questionChars` in total, only what is needed for its wording.
 */
export function beginnings<R extends Row>(toNode: (row: R) => MemoryNode): (row: R) => MemoryNode {
  let room: number = LIMITS.questionChars;
  let unreleased = 0;
  return (row) => {
    unreleased += row.content.length;
    if (unreleased > LIMITS.questionChars) {
      releaseMemory();
      unreleased = 0;
    }
    const most = room > LIMITS.contextTextChars ? LIMITS.contextTextChars + 1 : SEARCH_READ;
    const { content, metadata } = row;
    const isCut = content.length > most;
    const isLeftOut = metadata !== null && metadata.length > most;
    const read = {
      content: isCut ? beginning(content, most) : content,
      metadata: isLeftOut ? null : metadata,
    };
    room -= read.content.length + (read.metadata?.length ?? 0);
    const node = toNode({ ...row, ...read });
    if (!isCut && !isLeftOut) return node;
    return asBeginning(node, {
      ...(isCut && { content: content.length, sha256: sha256Hex(content) }),
      ...(isLeftOut && { metadata: metadata.length }),
    });
  };
}
