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
