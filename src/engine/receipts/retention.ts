import { reasonCode } from "../../domain/errors.ts";
import { fromEpochMicros, type Instant, toEpochMillis } from "../../lib/instant.ts";
import type { ReceiptLog } from "../../ports/store/receipt-log.ts";

/** Retrievals between two looks for old receipts. */
const EVERY = 100;
/** Milliseconds after which old receipts are looked for although few retrievals came. */
const AFTER_MS = 3_600_000;
/** Receipts that one look removes at most: more than come meanwhile, so that a backlog ends. */
const LIMIT = 250;
const DAY_MS = 86_400_000;

export type RetentionDeps = {
  readonly store: ReceiptLog;
  /** Undefined: receipts are kept for ever. */
  readonly days: number | undefined;
  readonly warn: (message: string) => void;
};

/**
 * Removes receipts that are older than they are to be, in small steps beside retrievals.
 * @returns a function to be called for each retrieval: a step when one is due, which never rejects
 */
export function createRetention({
  store,
  days,
  warn,
}: RetentionDeps): (now: Instant) => (() => Promise<void>) | undefined {
  let since = EVERY;
  let last = Number.NEGATIVE_INFINITY;
  return (now) => {
    if (days === undefined) return undefined;
    const ms = toEpochMillis(now);
    since += 1;
    if (since < EVERY && ms - last < AFTER_MS) return undefined;
    since = 0;
    last = ms;
    const before = fromEpochMicros(Math.max(0, Math.round((ms - days * DAY_MS) * 1000)));
    return async () => {
      try {
        const removed = await store.pruneReceipts(before, LIMIT);
        if (removed >= LIMIT) since = EVERY;
      } catch (error) {
        warn(`old receipts were not removed (${reasonCode(error)})`);
      }
    };
  };
}
