/** The rest after a pass is so many times as long as the pass, and at most so many milliseconds. */
const REST = 2;
const REST_MAX_MS = 3000;

type Pass = (waitMs: number) => Promise<boolean>;

/**
 * A pass that calls share: each call gets the result of one that began after it, and false if that takes longer than it waits. One
 * pass runs at a time, with a rest behind it, so that many calls one after the other leave room for other work.
 */
export function sharedPasses(pass: Pass): Pass {
  let next: Promise<boolean> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let restsUntil = 0;

  const begin = async (before: Promise<unknown>, waitMs: number): Promise<boolean> => {
    await before;
    const rest = restsUntil - performance.now();
    if (rest > 0) await Bun.sleep(rest);
    next = undefined;
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
      next = begin(last, waitMs);
      last = next.catch(() => {});
    }
    const late = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => late.resolve(false), waitMs);
    try {
      return await Promise.race([next, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
}
