import { LEASE_SECONDS } from "../domain/jobs.ts";

/**
 * Does claimed work and renews its lease three times as often as it must be.
 * @param renew one that fails is made up for by the next, or the work is somebody else's
 */
export async function whileHeld<T>(renew: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => void renew().catch(() => {}), (LEASE_SECONDS * 1000) / 3);
  timer.unref();
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
