/** Waits. @throws the reason of the signal as soon as it is aborted */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    await untilAborted(promise, signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Frees the memory of discarded long texts at once: otherwise dozens of them pile up. */
export function releaseMemory(): void {
  Bun.gc(true);
}

/** Yields to the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The value of a step, or the signal's reason as soon as it is aborted, regardless of the step. */
export function untilAborted<T>(step: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return step;
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    // There is no event if it was aborted while the step was being started.
    if (signal.aborted) onAbort();
    step.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** The pause after a pass, as a multiple of its duration, and at most this many milliseconds. */
const REST = 2;
const REST_MAX_MS = 3000;

type Pass = (waitMs: number) => Promise<boolean>;
type Turn = { readonly begun: Promise<void>; readonly end: Promise<boolean> };

/**
 * A pass shared by callers: each gets the result of one that began after its call, or false if that begins too late. One pass runs at a
 * time, followed by a pause, so that many consecutive calls leave room for other work.
 */
export function sharedPasses(pass: Pass): Pass {
  let next: Turn | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let restsUntil = 0;

  const run = async (
    before: Promise<unknown>,
    waitMs: number,
    begin: () => void,
  ): Promise<boolean> => {
    await before;
    const rest = restsUntil - performance.now();
    if (rest > 0) await Bun.sleep(rest);
    next = undefined;
    begin();
    const started = performance.now();
    try {
      return await pass(waitMs);
    } finally {
      const end = performance.now();
      restsUntil = end + Math.min(REST * (end - started), REST_MAX_MS);
    }
  };
  return async (waitMs) => {
    if (next === undefined) {
      const begun = Promise.withResolvers<void>();
      next = { begun: begun.promise, end: run(last, waitMs, begun.resolve) };
      last = next.end.catch(() => {});
    }
    const { begun, end } = next;
    const late = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => late.resolve(false), waitMs);
    try {
      const isBegun = await Promise.race([begun.then(() => true), late.promise]);
      return isBegun && (await end);
    } finally {
      clearTimeout(timer);
    }
  };
}
