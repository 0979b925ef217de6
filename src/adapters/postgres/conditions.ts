import { ACTIVE_STATES } from "../../domain/enums.ts";
import { isEverybody, type Owner } from "../../domain/owner.ts";
import { type Instant, toEpochMillis } from "../../lib/instant.ts";
import type { Params } from "./connection/params.ts";
import { ownerKey } from "./owner-key.ts";

/** A list of constants, as SQL. */
export function sqlList(values: readonly string[]): string {
  return `(${values.map((value) => `'${value}'`).join(", ")})`;
}

export const ACTIVE = sqlList(ACTIVE_STATES);

/** The part of a session's id that stands in an index, which has no room for one of any length, as SQL. */
export function sessionStart(column: string): string {
  return `left(${column}, 200)`;
}

/** Whether both are the same session, as SQL. */
export function isSession(column: string, value: string): string {
  return `(${sessionStart(column)} = ${sessionStart(value)} AND ${column} = ${value})`;
}

/** Sorts before every id. */
export const FIRST_ID = "00000000-0000-0000-0000-000000000000";
/** Sorts after every instant. */
export const END_OF_TIME = "~";

/** Whose rows are meant, as SQL: those of one owner, or all. @param table alias of a table with `owner` */
export function ofOwner(params: Params, table: string, owner: Owner): string {
  return isEverybody(owner) ? "true" : `${table}.owner = ${params.add(ownerKey(owner))}::bigint`;
}

/** The fraction of a second of the end of a node's retention, as text. */
export const END_FRACTION = "substr(n.created_at, 20)";

/**
 * `expiredAt` of a node `n`, as SQL. Null, and so not true, for a node that is kept for ever; the caller must check pins.
 */
export function endedBefore(params: Params, moment: Instant): string {
  const second = params.add(Math.floor(toEpochMillis(moment) / 1000));
  const fraction = params.add(moment.slice(19));
  return `n.retention_second <= ${second} AND (n.retention_second < ${second} OR ${END_FRACTION} < ${fraction})`;
}
