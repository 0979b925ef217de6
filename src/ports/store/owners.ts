import type { OwnerMemories, OwnerName, OwnerSummary, PackOwner } from "../../domain/pack-owner.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { AuditRecord } from "./audit-record.ts";

/** An audit record without what is known only when it is written. */
export type OwnerRecord = Pick<AuditRecord, "id" | "actorId" | "createdAt">;

/** Who is to get whose things. */
export type OwnerWish = {
  readonly from: string;
  readonly into: string;
  /** Whether `into` is to have things already, or is not to have any. */
  readonly isJoin: boolean;
};

/** What is to become of an owner's things. */
export type OwnerMove = OwnerWish & {
  /** Of the record. */
  readonly id: Uuid;
  /** Of the record that the pack's owner changed, where that is `from`. */
  readonly settingId: Uuid;
  readonly actorId: string;
};

/** Who has things in a pack, and whose it is. Each change is one transaction and leaves its record. */
export type Owners = {
  packOwner(): Promise<PackOwner>;
  /** Makes an owner that of the pack if `packOwner` is `nobody`. @returns whose the pack is afterwards */
  claimPack(userId: string, record: OwnerRecord): Promise<PackOwner>;
  /** Makes an owner that of the pack, whoever it was. */
  usePack(userId: string, record: OwnerRecord): Promise<void>;
  /** Those with most memories first; looks at the 50 owners who came first. @param limit at least 1 */
  withMemories(limit: number): Promise<readonly OwnerMemories[]>;
  /** All who have anything, those with most memories first. */
  list(): Promise<readonly OwnerSummary[]>;
  /** The owner's names in this pack, the present one first. */
  names(userId: string): Promise<readonly OwnerName[]>;
  /** What `move` would move. @throws SvcError invalid_argument as `move` does */
  previewMove(wish: OwnerWish): Promise<OwnerSummary>;
  /**
   * Gives everything of one owner to another: memories with their entries in both indexes, events, work and receipts. Other
   * owners and the content of events stay as they are; nothing is left under the former name.
   * @throws SvcError invalid_argument naming `from` or `into`; then nothing was changed
   */
  move(move: OwnerMove): Promise<OwnerSummary>;
};
