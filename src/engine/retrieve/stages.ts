import type { StageName, StageTrace } from "./api.ts";

/** Runs stages and records for each how long it took, its input and its output. */
export class StageLog {
  readonly #start = performance.now();
  readonly #traces: StageTrace[] = [];

  get traces(): readonly StageTrace[] {
    return this.#traces;
  }

  /** Milliseconds since the start of the log, including work between the stages. */
  get totalMs(): number {
    return Math.round((performance.now() - this.#start) * 100) / 100;
  }

  /** Runs one stage. `input` is the number of items it takes; `size` counts those of its result. */
  async run<T>(
    stage: StageName,
    input: number,
    work: () => T | Promise<T>,
    size: (result: T) => number,
  ): Promise<T> {
    const start = performance.now();
    const result = await work();
    const timingMs = Math.round((performance.now() - start) * 100) / 100;
    this.#traces.push({ stage, timingMs, input, output: size(result) });
    return result;
  }
}
