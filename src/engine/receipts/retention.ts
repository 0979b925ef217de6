import { reasonCode } from "../../domain/errors.ts";
import { fromEpochMicros, type Instant, toEpochMillis } from "../../lib/instant.ts";
import type { ReceiptLog } from "../../ports/store/receipt-log.ts";

/** Retrievals between two checks for old receipts. */
const EVERY = 100;
/** Milliseconds after which old receipts are checked for even if there were few retrievals. */
const AFTER_MS = 3_600_000;
/** Maximum receipts removed per check: more than are added meanwhile, so that a backlog shrinks. */
const LIMIT = 250;
const DAY_MS = 86_400_000;

export type RetentionDeps = {
  readonly store: ReceiptLog;
  /** Undefined: receipts are kept for ever. */
  readonly days: number | undefined;
  readonly warn: (message: string) => void;
};

/**
 * Removes expired receipts, in small steps beside retrievals.
 * @returns a function to be called for each retrieval: it runs a step if one is due, and never rejects
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
