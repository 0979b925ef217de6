import type { OwnerMemories } from "../../../domain/pack-owner.ts";
import { json, name } from "../core/tool-text.ts";

/** A name that needs no quotation marks to be told from what stands around it. */
const PLAIN = /^[\p{L}\p{N}_.@+-]{1,40}$/u;

/** The name of an owner among words, on one line. Somebody chose it, so it may hold anything. */
export function shownOwner(userId: string): string {
  return PLAIN.test(userId) ? userId : json(name(userId));
}

/** `anna (149), _cli (3)`. */
export function shownOwners(owners: readonly OwnerMemories[]): string {
  return owners.map(({ userId, memories }) => `${shownOwner(userId)} (${memories})`).join(", ");
}

/** Under which names there are memories, for a caller whose own all of them are. */
export function tellNothingUnder(userId: string, others: readonly OwnerMemories[]): string {
  return `Nothing is stored under ${json(name(userId))}; there are memories under: ${shownOwners(others)}.`;
}

/** What a caller can do where a pack does not say which of several owners is meant. */
export function tellSeveral(owners: readonly OwnerMemories[]): string {
  return `The pack has memories of several owners: ${shownOwners(owners)}`;
}
