import type { JsonObject } from "../lib/json.ts";
import { foldCase } from "../lib/text.ts";
import type { Role, SourceType } from "./enums.ts";
import type { MemoryNode } from "./node.ts";
import { storedSpeaker } from "./speaker.ts";

/** Metadata key of an instruction whose source the caller says is the user: the role that its text came from. */
export const ROLE_KEY = "svc_role_v1";

/**
 * Whether a memory is an instruction of its owner: stated by the user, and not in somebody else's words, or confirmed by a
 * promotion. Any other instruction is merely a text that asks for something.
 */
export function isOwnInstruction(node: MemoryNode): boolean {
  if (node.nodeType !== "instruction") return false;
  if (node.lifecycleState === "stable") return true;
  const speaker = storedSpeaker(node.metadata);
  const isOther = speaker !== undefined && foldCase(speaker) !== foldCase(node.userId);
  const isOfOtherRole = node.metadata?.[ROLE_KEY] !== undefined;
  return node.sourceType === "user_stated" && !isOther && !isOfOtherRole;
}

/**
 * Whether a memory may become stable without anybody confirming it. A text that merely asks for something may not: as a stable
 * one it would count as an instruction of its owner.
 */
export function mayBePromoted(node: MemoryNode): boolean {
  return node.nodeType !== "instruction" || isOwnInstruction(node);
}

/**
 * The metadata of a new instruction. The text of a tool or an assistant does not become the user's own because a caller names the
 * user as its source. So the role is stored with the memory.
 */
export function withRole(
  metadata: JsonObject | undefined,
  { role, sourceType }: { readonly role: Role; readonly sourceType: SourceType },
): JsonObject | undefined {
  const isOwners = role === "user" || role === "human";
  return isOwners || sourceType !== "user_stated" ? metadata : { ...metadata, [ROLE_KEY]: role };
}
