import { addSeconds, asInstant, type Instant } from "../lib/instant.ts";
import { retryAfterSeconds } from "./jobs.ts";

/** Who holds work, from when and until when. */
export type Lease = { readonly holder: string; readonly from: Instant; readonly until: Instant };

/** A lease that ends later than this was given by a clock that has been set back since. */
const LONGEST_SECONDS = 600;
/** A lease is renewed long before it ends; the rest is room for clocks that differ. */
const LEASE_SECONDS_MAX = LONGEST_SECONDS / 2;
const LAST = asInstant("9999-12-31T23:59:59.999999Z");

/** A lease from a moment on. Longer ones end after five minutes, unless they are renewed. */
export function leaseOf(holder: string, from: Instant, seconds: number): Lease {
  return { holder, from, until: later(from, Math.min(seconds, LEASE_SECONDS_MAX)) };
}

/** The latest end that a lease can have which holds something now. */
export function latestEnd(now: Instant): Instant {
  return later(now, LONGEST_SECONDS);
}

/** When work is due again that has failed so many times in a row, or that is to rest. */
export function dueAfter(at: Instant, failures: number, cooldownSeconds = 0): Instant {
  const waits = failures === 0 ? 0 : retryAfterSeconds(failures);
  return later(at, Math.max(cooldownSeconds, waits));
}

function later(at: Instant, seconds: number): Instant {
  return addSeconds(at, seconds) ?? LAST;
}
