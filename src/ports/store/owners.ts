import type { OwnerMemories, OwnerName, OwnerSummary, PackOwner } from "../../domain/pack-owner.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { AuditRecord } from "./audit-record.ts";

/** An audit record without the members that are known only when it is written. */
export type OwnerRecord = Pick<AuditRecord, "id" | "actorId" | "createdAt">;

/** From whom to whom everything is to be given. */
export type OwnerWish = {
  readonly from: string;
  readonly into: string;
  /** Whether `into` must already have something, or must not. */
  readonly isJoin: boolean;
};

export type OwnerMove = OwnerWish & {
  /** Of the record. */
  readonly id: Uuid;
  /** Id of the record that the pack's owner changed, if that is `from`. */
  readonly settingId: Uuid;
  readonly actorId: string;
};

/** The owners of the things in a pack, and the owner of the pack. Each change is one transaction and leaves its record. */
export type Owners = {
  packOwner(): Promise<PackOwner>;
  /** Sets the owner of the pack if `packOwner` is `nobody`. @returns the owner of the pack afterwards */
  claimPack(userId: string, record: OwnerRecord): Promise<PackOwner>;
  /** Sets the owner of the pack, whichever it was. */
  usePack(userId: string, record: OwnerRecord): Promise<void>;
  /** Those with the most memories first; considers the first 50 owners. @param limit at least 1 */
  withMemories(limit: number): Promise<readonly OwnerMemories[]>;
  /** Everyone who has anything, those with the most memories first. */
  list(): Promise<readonly OwnerSummary[]>;
  /**
   * Names of owners that have a blank or a character beyond ASCII, and those that are the form (`nameForm`) of one of these: few, and all that
   * may have another form are among them.
   */
  unusualNames(): Promise<readonly string[]>;
  /** The owner's names in this pack, the current one first. */
  names(userId: string): Promise<readonly OwnerName[]>;
  /** What `move` would move. @throws SvcError invalid_argument as `move` does */
  previewMove(wish: OwnerWish): Promise<OwnerSummary>;
  /**
   * Gives everything of one owner to another: memories with their entries in both indexes, events, work and receipts. Other
   * owners and the content of events stay as they are; nothing stays under the old name.
   * @throws SvcError invalid_argument naming `from` or `into`; then nothing was changed
   */
  move(move: OwnerMove): Promise<OwnerSummary>;
};
