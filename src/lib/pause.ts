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

/** Gives back at once what long texts took that nobody has any more: otherwise dozens of them pile up. */
export function releaseMemory(): void {
  Bun.gc(true);
}

/** Lets what waits for the event loop run first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The value of a step, or the signal's reason as soon as it is aborted, whatever the step does meanwhile. */
export function untilAborted<T>(step: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return step;
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    // No event comes if it was aborted while the step was being started.
    if (signal.aborted) onAbort();
    step.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** The rest after a pass is so many times as long as the pass, and at most so many milliseconds. */
const REST = 2;
const REST_MAX_MS = 3000;

type Pass = (waitMs: number) => Promise<boolean>;
type Turn = { readonly begun: Promise<void>; readonly end: Promise<boolean> };

/**
 * A pass that calls share: each call gets the result of one that began after it, and false if that begins later than it waits. One
 * pass runs at a time, with a rest behind it, so that many calls one after the other leave room for other work.
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
