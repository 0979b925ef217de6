import type { StageName, StageTrace } from "../results.ts";

/** Runs stages and remembers how long each took, what it was given and what it gave. */
export class StageLog {
  readonly #traces: StageTrace[] = [];

  get traces(): readonly StageTrace[] {
    return this.#traces;
  }

  /** Milliseconds of all stages together. */
  get totalMs(): number {
    const total = this.#traces.reduce((sum, { timingMs }) => sum + timingMs, 0);
    return Math.round(total * 100) / 100;
  }

  /** Runs one stage. `sizes` tells how many items it took and gave. */
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
