import { parseId, parseOwner } from "../../domain/arguments.ts";
import { openChecksummed } from "../../domain/checksummed.ts";
import { FORGOTTEN, RECEIPT_ISSUED } from "../../domain/erasure.ts";
import { ALL_OWNERS, isEverybody } from "../../domain/owner.ts";
import { uuidV5 } from "../../lib/hashing.ts";
import { asInstant } from "../../lib/instant.ts";
import { asUuid, type Uuid } from "../../lib/uuid.ts";
import type { ErasureCounts, Erasures } from "../../ports/store/events.ts";
import type { AuditLog, AuditRecord } from "../../ports/store/records.ts";
import type { NamedRecords } from "../owner-names.ts";
import type { Forgetting } from "./api.ts";

/** What the log says of forgettings. */

const PAGE = 1000;
const NO_BLOBS: Pick<ErasureCounts, "blobs"> = { blobs: 0 };

type ForgettingStore = NamedRecords & AuditLog & Pick<Erasures, "erasureStage">;

/** The id under which the log keeps the hash of a receipt. */
export function receiptRecordId(forgetId: Uuid): Uuid {
  return uuidV5(forgetId, "svc:forget-receipt:v1");
}

/** The hash of the newest receipt of an owner. */
export async function newestReceipt(store: AuditLog, userId: string): Promise<string | undefined> {
  const issued = await allOf(store, RECEIPT_ISSUED, userId);
  const last = issued.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1)).at(-1);
  return last && hashIn(last);
}

function hashIn({ payload }: AuditRecord): string | undefined {
  const hash = openChecksummed(payload)["sha256"];
  return typeof hash === "string" ? hash : undefined;
}

async function allOf(store: AuditLog, opType: string, userId: string): Promise<AuditRecord[]> {
  const found: AuditRecord[] = [];
  for (let afterTargetId: string | undefined; ; ) {
    const page = await store.auditRecordsOf({ opType, userId, afterTargetId, limit: PAGE });
    found.push(...page.items);
    const last = page.items.at(-1);
    if (!page.hasMore || last === undefined) return found;
    afterTargetId = last.targetId;
  }
}

/** What a record of the log says was erased. */
export function toErased({
  payload,
}: AuditRecord): Pick<Forgetting, "events" | "memories" | "counts"> {
  const record = openChecksummed(payload);
  const idsIn = (name: string): readonly Uuid[] =>
    [record[name] ?? []].flat().map((id) => asUuid(String(id)));
  return {
    events: idsIn("events"),
    memories: idsIn("nodes"),
    // SAFETY: `erase` wrote them, and the checksum matches; earlier programs knew no blobs.
    counts: { ...NO_BLOBS, ...(record["counts"] as Omit<ErasureCounts, "blobs">) },
  };
}

/** The record of a forgetting of an owner, under whatever name the owner had then. */
export async function recordOf(
  store: NamedRecords,
  id: Uuid,
  userId: string | undefined | null,
): Promise<AuditRecord | undefined> {
  const record = await store.auditRecord(id, ALL_OWNERS);
  if (record?.opType !== FORGOTTEN) return undefined;
  const owner = parseOwner(userId);
  if (isEverybody(owner)) return record;
  const names = await store.owners.names(owner);
  return names.some((name) => name.userId === record.namespaceId) ? record : undefined;
}

/** What is known of a forgetting. */
export async function getForgetting(
  { store }: { readonly store: ForgettingStore },
  forgetId: string,
  userId: string | null | undefined,
): Promise<Forgetting | undefined> {
  const record = await recordOf(store, parseId(forgetId, "forget_id"), userId);
  return record && toForgetting(store, record);
}

/** The forgettings of an owner, newest first. */
export async function listForgettings(
  { store }: { readonly store: ForgettingStore },
  userId: string,
): Promise<readonly Forgetting[]> {
  const records = await allOf(store, FORGOTTEN, userId);
  const all = await Promise.all(records.map((record) => toForgetting(store, record)));
  return all.sort((a, b) => (a.forgottenAt < b.forgottenAt ? 1 : -1));
}

export async function toForgetting(
  store: ForgettingStore,
  record: AuditRecord,
): Promise<Forgetting> {
  const issued = await store.auditRecord(receiptRecordId(record.id), ALL_OWNERS);
  return {
    forgetId: record.id,
    stage: await store.erasureStage(record.id),
    actorId: record.actorId,
    forgottenAt: asInstant(record.createdAt),
    ...toErased(record),
    receiptSha256: issued && hashIn(issued),
  };
}
