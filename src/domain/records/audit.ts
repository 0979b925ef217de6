import type { ObjectForm } from "../../lib/form.ts";
import type { JsonObject } from "../../lib/json.ts";

/** How audit records keep a value: the names of its declared members, null where there is nothing. */
export type AuditForm<T> = {
  readonly to: (value: T) => JsonObject;
  /** The value of a record that `to` made; its checksum was verified by the caller. */
  readonly from: (record: JsonObject) => T;
};

/** The audit form of a record. Its names are on the disk of every pack, and so may never change. */
export function auditForm<T extends object>({ members }: ObjectForm<T>): AuditForm<T> {
  const keys = members.flatMap(({ key }) => (typeof key === "string" ? key : []));
  return {
    to: (value) => {
      const given = new Map(Object.entries(value));
      return Object.fromEntries(keys.map((key) => [key, given.get(key) ?? null]));
    },
    from: (record) =>
      // SAFETY: `to` wrote the record, so every member is there, null where the value has nothing.
      Object.fromEntries(keys.map((key) => [key, record[key] ?? undefined])) as T,
  };
}
