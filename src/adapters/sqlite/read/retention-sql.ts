import type { Instant } from "../../../lib/instant.ts";

/** The second in which the retention of a node `n` ends (`retentionEnd`), as the index `nodes_expiring` has it. */
export const END_SECOND = "unixepoch(substr(n.created_at, 1, 19)) + n.ttl_days * 86400";
/** The fraction of a second of that end, as text. */
export const END_FRACTION = "substr(n.created_at, 20)";

/**
 * `expiredAt` of a node `n`, as SQL. Null, and so not true, for a node that is kept for ever; the caller must check pins.
 * @param second the place of the moment's `secondOf`, needed twice
 * @param fraction the place of its `fractionOf`
 */
export function endedBefore(second: string, fraction: string): string {
  return `${END_SECOND} <= unixepoch(${second})
         AND (${END_SECOND} < unixepoch(${second}) OR ${END_FRACTION} < ${fraction})`;
}

/** A moment truncated to the second. */
export function secondOf(moment: Instant): string {
  return moment.slice(0, 19);
}

/** The fraction of a second of a moment. */
export function fractionOf(moment: Instant): string {
  return moment.slice(19);
}
