/** Bytes per second below which a caller is too slow: 16 KiB. */
export const MIN_BYTES_PER_SECOND = 16 * 1024;
/** Checks within the shorter of the two times. They are counted, so that a process that was held up does not blame the caller. */
const LOOKS = 5;

export type BodyTimes = {
  /** Milliseconds that a caller may take to send a body. */
  readonly timeoutMs: number;
  /** Milliseconds of each interval in which it must send as many bytes as the minimum rate requires. */
  readonly paceMs: number;
};

/** Why the server stops waiting for a body. */
export type Lateness = "timeout" | "pace";

/** Watches how fast a caller sends. */
export type BodyClock = {
  /** Resolves when the caller is too slow. */
  readonly late: Promise<Lateness>;
  heard(bytes: number): void;
  /** Waits for something that is not the caller's fault. */
  pauseFor(work: Promise<void>): Promise<void>;
  /** Call it once. */
  end(): void;
};

/** Starts a clock at the earliest moment at which bytes could arrive. */
export function startBodyClock({ timeoutMs, paceMs }: BodyTimes): BodyClock {
  const { promise: late, resolve } = Promise.withResolvers<Lateness>();
  const step = Math.min(timeoutMs, paceMs) / LOOKS;
  const due = (MIN_BYTES_PER_SECOND * paceMs) / 1000;
  let spent = 0;
  let sinceCheck = 0;
  let heard = 0;
  let isPaused = false;
  const timer = setInterval(() => {
    if (isPaused) return;
    spent += step;
    sinceCheck += step;
    if (spent >= timeoutMs) resolve("timeout");
    if (sinceCheck < paceMs) return;
    if (heard < due) resolve("pace");
    sinceCheck = 0;
    heard = 0;
  }, step);
  return {
    late,
    heard: (bytes) => {
      heard += bytes;
    },
    pauseFor: async (work) => {
      isPaused = true;
      await work;
      isPaused = false;
    },
    end: () => clearInterval(timer),
  };
}
