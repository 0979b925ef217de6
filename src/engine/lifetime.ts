import { SvcError } from "../domain/errors.ts";
import type { EngineDeps } from "./deps.ts";
import { drain } from "./write/materialize.ts";

/** Milliseconds that one slice of background repair may take before other work gets its turn. */
const REPAIR_SLICE_MS = 250;

/** Knows whether the engine is open and what is still running. */
export class Lifetime {
  readonly #deps: EngineDeps;
  readonly #running = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  readonly #finish: () => Promise<void>;
  #closed: Promise<void> | undefined;

  /** @param finish what to do once nothing is running any more and before the store closes */
  constructor(deps: EngineDeps, finish: () => Promise<void>) {
    this.#deps = deps;
    this.#finish = finish;
  }

  /** Runs a call, unless the engine is closed. */
  use<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(closed());
    const running = call();
    this.#running.add(running);
    const done = () => this.#running.delete(running);
    running.then(done, done);
    return running;
  }

  /** @throws SvcError engine_closed */
  requireOpen(): void {
    if (this.#closed !== undefined) throw closed();
  }

  /**
   * Runs work in the background, unless the engine is closed; `close` waits for it, and its signal tells it to end soon.
   * @param failure what to report if the work fails
   */
  background(failure: string, work: (signal: AbortSignal) => Promise<void>): void {
    if (this.#closed !== undefined) return;
    const running = work(this.#closing.signal)
      .catch(() => this.#deps.warn(failure))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Finishes what earlier processes left pending, in slices, in the background. */
  repair(): void {
    this.background("repair of pending work did not finish", async (signal) => {
      for (let left = Number.POSITIVE_INFINITY; !signal.aborted; ) {
        const result = await drain(this.#deps, {
          userId: undefined,
          budgetMs: REPAIR_SLICE_MS,
          signal,
        });
        const open = result.pending - result.failed;
        if (open <= 0 || open >= left) return;
        left = open;
      }
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.#shutDown();
    return this.#closed;
  }

  async #shutDown(): Promise<void> {
    this.#closing.abort();
    while (this.#running.size > 0) await Promise.allSettled([...this.#running]);
    await this.#finish();
    await this.#deps.embedder.close();
    await this.#deps.reranker?.close();
    await this.#deps.entailment?.close();
    await this.#deps.store.close();
  }
}

function closed(): SvcError {
  return new SvcError("engine_closed", "the engine was closed; open it again");
}
