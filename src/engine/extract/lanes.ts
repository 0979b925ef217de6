import type { Scope } from "../../domain/enums.ts";

/** One owner and scope, whose events are extracted in their order. */
export type LaneName = { readonly userId: string; readonly scope: Scope };

type Timer = ReturnType<typeof setTimeout>;

/** What this process knows of a lane. */
type Lane = {
  readonly name: LaneName;
  /** Ends when all work that was begun on it has ended. */
  tail: Promise<unknown>;
  /** Pieces of work that have not ended. */
  working: number;
  /** For events that have not been tried. */
  flushTimer: Timer | undefined;
  /** For an event that is tried again. */
  retryTimer: Timer | undefined;
};

/** The lanes in which something goes on, with their timers. Work on one lane never overlaps. */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();

  /** Begins work once all earlier work on these lanes has ended. */
  exclusive<T>(names: readonly LaneName[], work: () => Promise<T>): Promise<T> {
    const lanes = names.map((name) => this.#lane(name));
    const earlier = lanes.map(({ tail }) => tail);
    const result = Promise.all(earlier).then(work);
    const ended = result.then(
      () => undefined,
      () => undefined,
    );
    for (const lane of lanes) {
      lane.tail = ended;
      lane.working += 1;
    }
    void ended.then(() => {
      for (const lane of lanes) {
        lane.working -= 1;
        this.#forget(lane);
      }
    });
    return result;
  }

  /** Does something after a time, unless it is to be done already. */
  arm(name: LaneName, kind: "flush" | "retry", delayMs: number, fire: () => void): void {
    const lane = this.#lane(name);
    const member = kind === "flush" ? "flushTimer" : "retryTimer";
    if (kind === "flush" && lane.flushTimer !== undefined) return;
    clearTimeout(lane[member]);
    const timer = setTimeout(
      () => {
        lane[member] = undefined;
        fire();
        this.#forget(lane);
      },
      Math.min(delayMs, LONGEST_TIMER_MS),
    );
    timer.unref();
    lane[member] = timer;
  }

  /** Ends all timers. @returns the lanes that waited for a flush */
  disarm(): readonly LaneName[] {
    const armed: LaneName[] = [];
    for (const lane of [...this.#lanes.values()]) {
      if (lane.flushTimer !== undefined) armed.push(lane.name);
      clearTimeout(lane.flushTimer);
      clearTimeout(lane.retryTimer);
      lane.flushTimer = undefined;
      lane.retryTimer = undefined;
      this.#forget(lane);
    }
    return armed;
  }

  /** Resolves when nothing is being worked on. */
  async settled(): Promise<void> {
    while (this.#lanes.size > 0) {
      const tails = [...this.#lanes.values()].filter(({ working }) => working > 0);
      if (tails.length === 0) return;
      await Promise.all(tails.map(({ tail }) => tail));
    }
  }

  #lane(name: LaneName): Lane {
    const key = keyOf(name);
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const lane: Lane = {
      name: { userId: name.userId, scope: name.scope },
      tail: Promise.resolve(),
      working: 0,
      flushTimer: undefined,
      retryTimer: undefined,
    };
    this.#lanes.set(key, lane);
    return lane;
  }

  #forget(lane: Lane): void {
    const isIdle =
      lane.working === 0 && lane.flushTimer === undefined && lane.retryTimer === undefined;
    if (isIdle) this.#lanes.delete(keyOf(lane.name));
  }
}

/** Longer timers would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

function keyOf({ userId, scope }: LaneName): string {
  return JSON.stringify([userId, scope]);
}
