import { parseUserId } from "../domain/arguments.ts";
import {
  ALL_OWNERS,
  type OwnerMemories,
  type OwnerName,
  type OwnerSummary,
  type PackOwner,
} from "../domain/owner.ts";
import type { Instant } from "../lib/instant.ts";
import type { Uuid } from "../lib/uuid.ts";
import type { AuditLog, AuditRecord } from "../ports/store/records.ts";
import type { Owners, Store } from "../ports/store/store.ts";
import type { EngineDeps } from "./deps.ts";

/** Everything of `from` moves to `into`. */
export type MoveOwnerInput = {
  readonly from: string;
  readonly into: string;
  /** True: `into` must already be an owner. False: it must not be one yet. */
  readonly isJoin: boolean;
  /** True: nothing changes. Default false. */
  readonly isPreview?: boolean;
  /** The actor, for the audit log. */
  readonly actorId: string;
};

/** The owners of the pack and their contents. */
export type OwnerMethods = {
  /**
   * The owner of calls that name none: the one recorded in the pack, else its only owner. Undefined if there are several. Methods that
   * require an owner do not use it.
   */
  packOwner(): Promise<string | undefined>;
  /** Like `packOwner`; an unused pack records `userId`, by default the system user. */
  claimPack(userId?: string): Promise<string | undefined>;
  /** Every owner with data in the pack, those with the most memories first. */
  listOwners(): Promise<readonly OwnerSummary[]>;
  /** Sets and records the owner of the pack. */
  usePackOwner(userId: string, actorId: string): Promise<void>;
  /**
   * Renames an owner, or merges it into another: all its data moves, nothing stays under the old name, and the audit log records it. One
   * transaction. The content of events never changes.
   * @returns what was moved, or would be
   * @throws SvcError invalid_argument if there is nothing to move, or `into` does not match `isJoin`
   */
  moveOwner(input: MoveOwnerInput): Promise<OwnerSummary>;
  /** The owners with the most memories, at most 5. */
  ownersWithMemories(): Promise<readonly OwnerMemories[]>;
};

type OwnerDeps = Pick<EngineDeps<Pick<Store, "owners">>, "store" | "clock" | "ids" | "personName">;

const NAMED = 5;

export async function packOwner({ store, personName }: OwnerDeps): Promise<string | undefined> {
  return nameOf(await store.owners.packOwner(), personName);
}

export async function claimPack(
  { store, clock, ids, personName }: OwnerDeps,
  given: string | undefined,
): Promise<string | undefined> {
  const userId = given === undefined ? personName : parseUserId(given);
  const found = await store.owners.packOwner();
  if (found.from !== "nobody" || userId === undefined) return nameOf(found, userId);
  const record = { id: ids.next(), actorId: userId, createdAt: clock.now() };
  return nameOf(await store.owners.claimPack(userId, record), userId);
}

export async function ownersWithMemories({ store }: OwnerDeps) {
  return await store.owners.withMemories(NAMED);
}

export async function usePackOwner(
  { store, clock, ids }: OwnerDeps,
  owner: string,
  actorId: string,
): Promise<void> {
  const record = { id: ids.next(), actorId, createdAt: clock.now() };
  await store.owners.usePack(parseUserId(owner), record);
}

export async function moveOwner(
  { store, ids }: OwnerDeps,
  { from, into, isJoin, isPreview = false, actorId }: MoveOwnerInput,
): Promise<OwnerSummary> {
  const wish = { from: parseUserId(from), into: parseUserId(into), isJoin };
  if (isPreview) return await store.owners.previewMove(wish);
  return await store.owners.move({ ...wish, id: ids.next(), settingId: ids.next(), actorId });
}

function nameOf(owner: PackOwner, otherwise: string | undefined): string | undefined {
  if ("userId" in owner) return owner.userId;
  return owner.from === "nobody" ? otherwise : undefined;
}

/** The audit log with the former names of owners. */
export type NamedRecords = AuditLog & { readonly owners: Pick<Owners, "names"> };

/** Whether the owner had the name when the record was made. */
function isOf({ since, until }: OwnerName, recordedAt: Instant): boolean {
  return (
    (since === undefined || recordedAt > since) && (until === undefined || recordedAt <= until)
  );
}

/** An operation whose id derives from the owner's name, under any former name. */
export async function operationOf(
  store: NamedRecords,
  userId: string,
  idOf: (name: string) => Uuid,
): Promise<AuditRecord | undefined> {
  for (const name of await store.owners.names(userId)) {
    const operation = await store.auditRecord(idOf(name.userId), ALL_OWNERS);
    if (operation !== undefined && isOf(name, operation.createdAt)) return operation;
  }
  return undefined;
}

/** The id of the recorded operation, else a new one, so that a retry finds the first call. */
export async function operationIdFor(
  store: NamedRecords,
  userId: string,
  idOf: (name: string) => Uuid,
): Promise<Uuid> {
  return (await operationOf(store, userId, idOf))?.id ?? idOf(userId);
}
