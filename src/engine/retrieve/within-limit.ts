import { reasonCode } from "../../domain/errors.ts";

/** The value of a call, or why there is none. */
export type Limited<T> =
  | { readonly outcome: "applied"; readonly value: T }
  | {
      readonly outcome: "timeout" | "failed";
      /** A code, never a message: that could hold a text. */
      readonly reason: string;
    };

/**
 * Waits for an optional model for so long and no longer; it is told by its signal when nobody waits any more.
 * @param signal the caller's own
 * @throws the caller's reason when the caller aborts
 */
export async function withinLimit<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  call: (limited: AbortSignal) => Promise<T>,
): Promise<Limited<T>> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const limited = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  try {
    limited.throwIfAborted();
    return { outcome: "applied", value: await untilAborted(call(limited), limited) };
  } catch (error) {
    signal?.throwIfAborted();
    const reason = reasonCode(error);
    const isLate = deadline.aborted || reason === "model_timeout";
    return { outcome: isLate ? "timeout" : "failed", reason };
  }
}

/** A model that does not heed its signal must not hold up the answer. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    // Nobody is told any more when it happened while the work was started.
    if (signal.aborted) onAbort();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
