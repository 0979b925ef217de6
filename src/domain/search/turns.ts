import { isActive } from "../lifecycle.ts";
import type { MemoryNode } from "../node.ts";

/**
 * Code points of the blanks. A text of blanks only has no entry in an index. They are those of `String.prototype.trim`, listed
 * because other languages trim fewer.
 */
export const BLANKS: readonly number[] = [
  9, 10, 11, 12, 13, 32, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201,
  8202, 8232, 8233, 8239, 8287, 12288, 65279,
];

/** Whether a text has anything but blanks. */
export function hasText(content: string): boolean {
  return content.trim() !== "";
}

/** The type of the memories that form a conversation, if they have a session. */
export const TURN_TYPE = "note";

type OfConversation = Pick<MemoryNode, "nodeType" | "sessionId">;

/** Whether a memory belongs to a conversation: it is a turn, or was one before it became inactive, if it has text. */
export function isOfConversation({ nodeType, sessionId }: OfConversation): boolean {
  return nodeType === TURN_TYPE && sessionId !== undefined;
}

/**
 * Whether a memory is a turn of a conversation: an active note with a session and with text. What is indexed for a turn depends
 * on its neighbours, and only turns are neighbours.
 */
export function isTurn(
  node: OfConversation & Pick<MemoryNode, "lifecycleState" | "content">,
): boolean {
  return isOfConversation(node) && isActive(node.lifecycleState) && hasText(node.content);
}

/** A turn with its neighbours, nearest first. */
export type Surrounded<T> = {
  readonly turn: T;
  readonly before: readonly T[];
  readonly after: readonly T[];
};

/**
 * The neighbours of each turn, in order.
 * @param turns conversation by conversation (one owner, session and scope), each `earliestFirst`
 * @param reach turns on either side, at least 1
 */
export function* surroundings<T>(
  turns: readonly T[],
  reach: number,
  isOfSame: (one: T, other: T) => boolean,
): Generator<Surrounded<T>> {
  for (const [index, turn] of turns.entries()) {
    const isBeside = (other: T): boolean => isOfSame(turn, other);
    yield {
      turn,
      before: turns
        .slice(Math.max(0, index - reach), index)
        .filter(isBeside)
        .reverse(),
      after: turns.slice(index + 1, index + 1 + reach).filter(isBeside),
    };
  }
}
