import { ALL_OWNERS, type OwnerName } from "../domain/owner.ts";
import type { Instant } from "../lib/instant.ts";
import type { Uuid } from "../lib/uuid.ts";
import type { AuditLog, AuditRecord } from "../ports/store/records.ts";
import type { Owners } from "../ports/store/store.ts";

/** The audit log, in which owners are also found under their earlier names. */
export type NamedRecords = AuditLog & { readonly owners: Pick<Owners, "names"> };

/** Whether a record made under a name at a moment belongs to the owner who had the name then. */
function isOf({ since, until }: OwnerName, recordedAt: Instant): boolean {
  return (
    (since === undefined || recordedAt > since) && (until === undefined || recordedAt <= until)
  );
}

/**
 * An owner's operation whose id is derived from the owner's name, under whatever name it was recorded.
 * @param idOf the id of the operation under a name
 */
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

/** The id of an owner's operation as recorded, else the one to record now. A retry uses it to find what the first call did. */
export async function operationIdFor(
  store: NamedRecords,
  userId: string,
  idOf: (name: string) => Uuid,
): Promise<Uuid> {
  return (await operationOf(store, userId, idOf))?.id ?? idOf(userId);
}
