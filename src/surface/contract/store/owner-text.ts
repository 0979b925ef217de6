import type { OwnerMemories } from "../../../domain/owner.ts";
import { json, name } from "../core/tool-text.ts";

/** A name that needs no quotation marks in running text. */
const PLAIN = /^[\p{L}\p{N}_.@+-]{1,40}$/u;

/** The name of an owner in running text, on one line. Anyone may choose it, so it may contain anything. */
export function shownOwner(userId: string): string {
  return PLAIN.test(userId) ? userId : json(name(userId));
}

/** `anna (149), _cli (3)`. */
export function shownOwners(owners: readonly OwnerMemories[]): string {
  return owners.map(({ userId, memories }) => `${shownOwner(userId)} (${memories})`).join(", ");
}

/** Names the owners that have memories, for a caller whose own owner has none. */
export function tellNothingUnder(userId: string, others: readonly OwnerMemories[]): string {
  return `Nothing is stored under ${json(name(userId))}; there are memories under: ${shownOwners(others)}.`;
}

/** What a caller can do if a pack has several owners and no recorded one. */
export function tellSeveral(owners: readonly OwnerMemories[]): string {
  return `The pack has memories of several owners: ${shownOwners(owners)}`;
}
