import { parseUserId } from "../../domain/arguments.ts";
import { PACK_OWNER_SET, type PackOwner } from "../../domain/pack-owner.ts";
import type { EngineDeps } from "../deps.ts";

type OwnerDeps = Pick<EngineDeps, "store" | "clock" | "ids" | "personName">;

/** Owners that are named where one has no memories. */
const NAMED = 5;

/** Whose memories are meant by a caller who names no owner; undefined where the caller has to name one. */
export async function packOwner({ store, personName }: OwnerDeps): Promise<string | undefined> {
  return nameOf(await store.packOwner(), personName);
}

/** As `packOwner`, and writes it into a pack that nobody has used yet. @throws SvcError invalid_argument */
export async function claimPack(
  { store, clock, ids, personName }: OwnerDeps,
  given: string | undefined,
): Promise<string | undefined> {
  const userId = given === undefined ? personName : parseUserId(given);
  const found = await store.packOwner();
  if (found.from !== "nobody" || userId === undefined) return nameOf(found, userId);
  const operation = {
    id: ids.next(),
    opType: PACK_OWNER_SET,
    targetId: "pack",
    payload: { before: null, after: userId },
    actorId: userId,
    namespaceId: undefined,
    createdAt: clock.now(),
  };
  return nameOf(await store.claimPack(userId, operation), userId);
}

/** Owners with memories, those with most first, at most 5. */
export async function ownersWithMemories({ store }: OwnerDeps) {
  return await store.ownersWithMemories(NAMED);
}

function nameOf(owner: PackOwner, otherwise: string | undefined): string | undefined {
  if ("userId" in owner) return owner.userId;
  return owner.from === "nobody" ? otherwise : undefined;
}
