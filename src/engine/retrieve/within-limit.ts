import { reasonCode } from "../../domain/errors.ts";
import { untilAborted } from "../../lib/until-aborted.ts";

/** The value of a call, or why there is none. */
export type Limited<T> =
  | { readonly outcome: "applied"; readonly value: T }
  | {
      readonly outcome: "timeout" | "failed";
      /** A code, never a message, which could contain a text. */
      readonly reason: string;
    };

/**
 * Waits for an optional model no longer than the limit; its signal tells it when nobody waits any more.
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
