import { reasonCode, SvcError } from "../domain/errors.ts";
import type { EngineDeps } from "./deps.ts";

/** Whether the engine is open, and what is running. */
export class Lifetime {
  readonly #deps: EngineDeps;
  readonly #running = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  readonly #drain: () => Promise<void>;
  readonly #finish: () => Promise<void>;
  #closed: Promise<void> | undefined;

  /** @param drain ends background work once calls are refused @param finish runs before the store closes */
  constructor(
    deps: EngineDeps,
    {
      drain,
      finish,
    }: { readonly drain: () => Promise<void>; readonly finish: () => Promise<void> },
  ) {
    this.#deps = deps;
    this.#drain = drain;
    this.#finish = finish;
  }

  use<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(closed());
    const running = call();
    this.#running.add(running);
    const done = () => this.#running.delete(running);
    running.then(done, done);
    return running;
  }

  /** Aborted when the engine begins to close. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** @throws SvcError engine_closed */
  requireOpen(): void {
    if (this.#closed !== undefined) throw closed();
  }

  /** Runs background work and reports its failure; `close` aborts its signal and waits. */
  async background(failure: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.#closed !== undefined) return;
    const running = work(this.#closing.signal)
      .catch((error) => this.#deps.warn(`${failure} (${reasonCode(error)})`))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    await running;
  }

  close(): Promise<void> {
    this.#closed ??= this.#shutDown();
    return this.#closed;
  }

  async #shutDown(): Promise<void> {
    this.#closing.abort();
    await this.#drain();
    while (this.#running.size > 0) await Promise.allSettled([...this.#running]);
    await this.#finish();
    await this.#deps.embedder.close();
    await this.#deps.reranker?.close();
    await this.#deps.store.close();
  }
}

function closed(): SvcError {
  return new SvcError("engine_closed", "the engine was closed; open it again");
}
