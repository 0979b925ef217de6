import { LEASE_SECONDS } from "../domain/jobs.ts";

/** Seconds between two renewals, even of a long lease. */
const LONGEST_PAUSE = 30;

/**
 * Does claimed work and renews its lease at least three times as often as it must be.
 * @param renew one that fails is made up for by the next, or the work is somebody else's
 * @param leaseSeconds how long it lasts
 */
export async function whileHeld<T>(
  renew: () => Promise<void>,
  work: () => Promise<T>,
  leaseSeconds = LEASE_SECONDS,
): Promise<T> {
  const pause = Math.min(LONGEST_PAUSE, leaseSeconds / 3);
  const timer = setInterval(() => void renew().catch(() => {}), pause * 1000);
  timer.unref();
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
