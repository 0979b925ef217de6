import type { ExtractionSettings } from "./api.ts";
import type { Gate } from "./gate.ts";

/** Milliseconds that a close waits for extraction at least, and at most. */
const DRAIN_MS = 10_000;
const DRAIN_MAX_MS = 300_000;

/** How long a close waits: a while, and longer for each request of several turns that is under way or still begun. */
export class Closing {
  readonly #requestMs: number;
  #underWay = 0;
  #deadline: number | undefined;
  #last = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #expire: () => void = () => {};

  constructor({
    batchTargetTokens,
    batchTimeoutMs,
  }: Pick<ExtractionSettings, "batchTargetTokens" | "batchTimeoutMs">) {
    this.#requestMs = batchTargetTokens === 0 ? 0 : batchTimeoutMs;
  }

  get hasBegun(): boolean {
    return this.#deadline !== undefined;
  }

  /** The gate, each passage of which is counted as a request. */
  counting(gate: Gate): Gate {
    return (call, signal) =>
      gate(async () => {
        this.#underWay += 1;
        if (this.#deadline !== undefined) this.#prolong(1);
        try {
          return await call();
        } finally {
          this.#underWay -= 1;
        }
      }, signal);
  }

  /** @param expire called when it has taken too long */
  begin(expire: () => void): void {
    const now = performance.now();
    this.#expire = expire;
    this.#last = now + DRAIN_MAX_MS;
    this.#deadline = now + DRAIN_MS;
    this.#prolong(this.#underWay);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #prolong(requests: number): void {
    this.#deadline = Math.min((this.#deadline ?? 0) + requests * this.#requestMs, this.#last);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#expire, Math.max(0, this.#deadline - performance.now()));
  }
}
