/** Background work: one task at a time, each on its own turn of the event loop. */
export type Turns = {
  /** @param task never rejects @returns a promise of its end */
  add(task: () => Promise<void>): Promise<void>;
  /** Tasks that have not ended. */
  readonly size: number;
  /** Runs everything added so far without further delay; resolves at its end, or after `limitMs` if that is earlier. */
  settle(limitMs: number): Promise<void>;
};

/** Nothing of this keeps a process alive. */
export function createTurns(): Turns {
  const waiting: (() => void)[] = [];
  const ends = new Set<Promise<void>>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isRunning = false;
  /** Tasks that must not wait for their own turn. */
  let urgent = 0;

  const next = (): void => {
    timer = undefined;
    const start = waiting.shift();
    if (start === undefined) return;
    urgent = Math.max(0, urgent - 1);
    isRunning = true;
    start();
  };
  const schedule = (): void => {
    if (isRunning || timer !== undefined || waiting.length === 0) return;
    if (urgent > 0) next();
    else {
      timer = setTimeout(next, 0);
      timer.unref();
    }
  };
  return {
    add: (task) => {
      const end = new Promise<void>((resolve) => {
        waiting.push(() => {
          task().finally(() => {
            ends.delete(end);
            isRunning = false;
            resolve();
            schedule();
          });
        });
      });
      ends.add(end);
      schedule();
      return end;
    },
    get size() {
      return ends.size;
    },
    settle: async (limitMs) => {
      urgent = waiting.length;
      clearTimeout(timer);
      timer = undefined;
      schedule();
      let limit: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<void>((resolve) => {
        limit = setTimeout(resolve, limitMs);
      });
      await Promise.race([Promise.all(ends), late]);
      clearTimeout(limit);
    },
  };
}
