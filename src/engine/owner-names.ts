import { ALL_OWNERS, type OwnerName } from "../domain/owner.ts";
import type { Instant } from "../lib/instant.ts";
import type { Uuid } from "../lib/uuid.ts";
import type { AuditLog, AuditRecord } from "../ports/store/records.ts";
import type { Owners } from "../ports/store/store.ts";

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
