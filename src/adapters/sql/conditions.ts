import { ACTIVE_STATES } from "../../domain/enums.ts";
import { type AllOwners, isEverybody, type Owner } from "../../domain/owner.ts";
import { type Instant, toEpochMillis } from "../../lib/instant.ts";
import { type Dialect, sqlList } from "./dialect.ts";
import * as sql from "./statement.ts";

export const ACTIVE = sqlList(ACTIVE_STATES);
/** States outside of disputes. */
export const OPEN = "('tentative', 'stable')";

/** Whether a member of a table's metadata is true, as SQL. */
export const isTrue = ({ isOwnerInKeys }: Dialect, table: string, name: string): string =>
  `${table}.metadata::json ->> '${name}' = ${isOwnerInKeys ? "'true'" : "1"}`;

/** Collects the values of a statement: `add` gives the place of each, `$1`, `$2` and so on. */
export class Params {
  readonly values: sql.SqlValue[] = [];

  constructor(...values: readonly sql.SqlValue[]) {
    this.values.push(...values);
  }

  add(value: sql.SqlValue): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  /** `column` is one of `values`; an empty list matches nothing. */
  any(column: string, values: Iterable<string>, type = "text"): string {
    return `${column} = ANY (${this.add([...values])}::${type}[])`;
  }
}

/** The number of an owner, or all; undefined for one without data. */
export function* keyOf(owner: Owner): sql.Steps<sql.OwnerKey | AllOwners | undefined> {
  return isEverybody(owner) ? owner : yield* sql.ownerKey(owner);
}

/** The number of an owner; null for all owners, undefined for one without data. */
export function* keyOrNull(owner: Owner): sql.Steps<sql.OwnerKey | null | undefined> {
  return isEverybody(owner) ? null : yield* sql.ownerKey(owner);
}

/** A filter for the rows of one owner, or all, as SQL. @param column `owner` of a table */
export function ofOwner(params: Params, column: string, owner: sql.OwnerKey | AllOwners): string {
  return typeof owner === "object" ? "true" : `${column} = ${params.add(owner)}::bigint`;
}

/** Whether a receipt `r` belongs to the asking user, who need not own anything, and so may have no number in a pack. */
export function* askedBy(params: Params, userId: string): sql.Steps<string> {
  const { isOwnerInKeys } = yield* sql.dialect();
  if (!isOwnerInKeys) return `r.user_id = ${params.add(userId)}`;
  return `r.owner = ${params.add((yield* sql.ownerKey(userId)) ?? null)}::bigint`;
}

/** `expiredAt` of a node `n`, as SQL. Null, and so not true, for unlimited retention; the caller must check pins. */
export function endedBefore({ endSecond }: Dialect, params: Params, moment: Instant): string {
  const second = params.add(Math.floor(toEpochMillis(moment) / 1000));
  const fraction = params.add(moment.slice(19));
  return `${endSecond} <= ${second} AND (${endSecond} < ${second} OR ${END_FRACTION} < ${fraction})`;
}

/** The fraction of a second of the end of a node's retention, as text. */
export const END_FRACTION = "substr(n.created_at, 20)";

/** Whether a text contains one of the lower-case texts; true without any. Databases fold case differently. */
export function containsAny(content: string, needles: readonly string[]): boolean {
  if (needles.length === 0) return true;
  const text = content.toLowerCase();
  return needles.some((needle) => text.includes(needle));
}
