import { fromEpochMicros } from "../../lib/instant.ts";
import type { Clock } from "../../ports/system.ts";

/** Sources of time that a clock reads, in milliseconds. */
export type TimeSources = {
  /** Since the Unix epoch, whole milliseconds; the system may set it back or forward. */
  readonly wallMs: () => number;
  /** Since some start, with a fraction; never set back, may stop while the machine sleeps. */
  readonly steadyMs: () => number;
};

const SYSTEM: TimeSources = { wallMs: () => Date.now(), steadyMs: () => performance.now() };

/**
 * A clock in microseconds. It follows the system's clock, takes the digits below the millisecond from the steady one, and
 * never returns the same or an earlier instant twice, even if the system's clock is set back.
 */
export function createSystemClock(sources: TimeSources = SYSTEM): Clock {
  let offsetMs = sources.wallMs() - sources.steadyMs();
  let lastMicros = 0;
  return {
    now: () => {
      const wall = sources.wallMs();
      const steady = sources.steadyMs();
      const isInStep = steady + offsetMs >= wall && steady + offsetMs < wall + 1;
      // The two drift apart when the clock is set or after the machine slept: then the wall clock is right.
      if (!isInStep) offsetMs = wall - steady;
      lastMicros = Math.max(lastMicros + 1, Math.floor((steady + offsetMs) * 1000));
      return fromEpochMicros(lastMicros);
    },
  };
}
