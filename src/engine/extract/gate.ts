/** Lets a number of calls in at a time; the others wait in their order. */
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
