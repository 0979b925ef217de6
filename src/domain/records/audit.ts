import {
  anyObject,
  instant,
  nullable,
  type ObjectForm,
  object,
  text,
  uuid,
} from "../../lib/form.ts";
import type { JsonObject } from "../../lib/json.ts";

/** One row of the insert-only audit log. */
export const auditRecordForm = object({
  id: uuid,
  opType: text,
  targetId: text,
  payload: anyObject,
  actorId: text,
  namespaceId: nullable(text),
  createdAt: instant,
});

/** How audit records keep a value: by the names of its form there, null where there is nothing. */
export type AuditForm<T> = {
  readonly to: (value: T) => JsonObject;
  /** The value of a record that `to` made; its checksum was verified by the caller. */
  readonly from: (record: JsonObject) => T;
};

/**
 * The audit form of a record.
 * @param written the names of its members there, in their order: they are on the disk of every pack, and so may never change
 */
export function auditForm<T extends object>(
  { members }: ObjectForm<T>,
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
      // SAFETY: `to` wrote the record, so every member is there, null where the value has nothing.
      Object.fromEntries(pairs.map(([key, name]) => [key, record[name] ?? undefined])) as T,
  };
}
