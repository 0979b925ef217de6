import { foldCase } from "../lib/text.ts";
import type { MemoryNode } from "./node.ts";
import { storedSpeaker } from "./speaker.ts";

/**
 * Whether a memory is an instruction of its owner: stated by the user, and not in the words of somebody else, or confirmed by a
 * promotion. Any other instruction is a text that asks for something.
 */
export function isOwnInstruction(node: MemoryNode): boolean {
  if (node.nodeType !== "instruction") return false;
  if (node.lifecycleState === "stable") return true;
  const speaker = storedSpeaker(node.metadata);
  const isOther = speaker !== undefined && foldCase(speaker) !== foldCase(node.userId);
  return node.sourceType === "user_stated" && !isOther;
}
