import { LEASE_SECONDS } from "../domain/jobs.ts";

/** Seconds between renewals at most. */
const LONGEST_PAUSE = 30;

/** Runs claimed work and renews its lease three times per term; a failed renewal is ignored. */
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

/** Limits concurrent calls; the others wait in order. */
export type Gate = <T>(call: () => Promise<T>, signal: AbortSignal) => Promise<T>;

export function createGate(size: number): Gate {
  const waiting = new Set<() => void>();
  let inside = 0;
  const enter = (signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    if (inside < size) {
      inside += 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        waiting.delete(next);
        reject(signal.reason);
      };
      const next = (): void => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      waiting.add(next);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  };
  const leave = (): void => {
    const [next] = waiting;
    if (next === undefined) inside -= 1;
    else {
      waiting.delete(next);
      next();
    }
  };
  return async (call, signal) => {
    await enter(signal);
    try {
      return await call();
    } finally {
      leave();
    }
  };
}
