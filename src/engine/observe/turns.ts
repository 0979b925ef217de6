import { untilAborted } from "../../lib/until-aborted.ts";

/** Lets one call at a time run, in their order. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** @throws the reason of the signal, if it is aborted before the call begins */
  async take<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    // Whoever gives up waiting leaves the turn to the next one when it would have come.
    this.#last = before.then(() => promise);
    try {
      await untilAborted(before, signal);
      return await call();
    } finally {
      resolve();
    }
  }
}
