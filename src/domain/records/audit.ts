import * as f from "../../lib/form.ts";
import type { JsonObject } from "../../lib/json.ts";

/** One row of the insert-only audit log. */
export const auditRecordForm = f.object({
  id: f.uuid,
  opType: f.text,
  targetId: f.text,
  payload: f.anyObject,
  actorId: f.text,
  namespaceId: f.nullable(f.text),
  createdAt: f.instant,
});

/** How audit records encode a value: under the names of its form, null if absent. */
export type AuditForm<T> = {
  readonly to: (value: T) => JsonObject;
  /** The value of a record made by `to`; the caller has verified its checksum. */
  readonly from: (record: JsonObject) => T;
};

/**
 * The audit form of a record.
 * @param written the stored names of its members, in order: they are on disk in every pack, and so must never change
 */
export function auditForm<T extends object>(
  { members }: f.ObjectForm<T>,
  written: string,
): AuditForm<T> {
  const names = written.split(/\s+/);
  const keys = members.flatMap(({ key }) => (typeof key === "string" ? key : []));
  if (names.length !== keys.length) throw new Error("an audit form names each member once");
  const pairs = keys.map((key, place) => [key, names[place] ?? key] as const);
  return {
    to: (value) =>
      Object.fromEntries(pairs.map(([key, name]) => [name, Reflect.get(value, key) ?? null])),
    from: (record) =>
      // SAFETY: `to` wrote the record, so every member is present, null if the value has none.
      Object.fromEntries(pairs.map(([key, name]) => [key, record[name] ?? undefined])) as T,
  };
}
