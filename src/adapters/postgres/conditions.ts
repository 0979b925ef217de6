import { isEverybody, type Owner } from "../../domain/owner.ts";
import { type Instant, toEpochMillis } from "../../lib/instant.ts";
import { END_FRACTION } from "../sql/conditions.ts";
import type { Params } from "./connection/params.ts";
import { ownerKey } from "./owner-key.ts";

/** Whose rows are meant, as SQL: those of one owner, or all. @param table alias of a table with `owner` */
export function ofOwner(params: Params, table: string, owner: Owner): string {
  return isEverybody(owner) ? "true" : `${table}.owner = ${params.add(ownerKey(owner))}::bigint`;
}

/**
 * `expiredAt` of a node `n`, as SQL. Null, and so not true, for a node that is kept for ever; the caller must check pins.
 */
export function endedBefore(params: Params, moment: Instant): string {
  const second = params.add(Math.floor(toEpochMillis(moment) / 1000));
  const fraction = params.add(moment.slice(19));
  return `n.retention_second <= ${second} AND (n.retention_second < ${second} OR ${END_FRACTION} < ${fraction})`;
}
