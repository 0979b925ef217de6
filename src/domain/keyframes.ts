import type { KeptReason } from "./records/observation.ts";

/** Cells of the greys of a frame, whatever its shape. */
export const GREYS_WIDTH = 64;
export const GREYS_HEIGHT = 36;

/** Mean greys from 0 to 255, row by row: what of a frame is compared. */
export type Greys = Float64Array;

export type SelectionOptions = {
  /** Change from which on a frame is kept. */
  readonly changeThreshold: number;
  /** Seconds after the frame kept last from which on a frame is kept in any case. */
  readonly maxGapSeconds: number;
};

/** Whether a frame is kept, and why. */
export type Verdict = {
  /** Mean difference from the greys of the frame kept last, three decimals; undefined for the first. */
  readonly change: number | undefined;
  readonly reason: KeptReason | undefined;
};

/** Decides which frames of a video are kept. It holds the greys of the frame kept last, and no others. */
export type Selection = {
  /** Frames are given in order. @param timeS seconds from the beginning of the video */
  offer(greys: Greys, timeS: number): Verdict;
};

export function createSelection({ changeThreshold, maxGapSeconds }: SelectionOptions): Selection {
  let kept: { readonly greys: Greys; readonly timeS: number } | undefined;
  const judge = (greys: Greys, timeS: number): Verdict => {
    if (kept === undefined) return { change: undefined, reason: "first" };
    const change = changeBetween(kept.greys, greys);
    if (change >= changeThreshold) return { change, reason: "change" };
    return { change, reason: timeS - kept.timeS >= maxGapSeconds ? "heartbeat" : undefined };
  };
  return {
    offer: (greys, timeS) => {
      const verdict = judge(greys, timeS);
      if (verdict.reason !== undefined) kept = { greys, timeS };
      return verdict;
    },
  };
}

function changeBetween(one: Greys, other: Greys): number {
  const sum = one.reduce((total, grey, cell) => total + Math.abs(grey - (other[cell] ?? 0)), 0);
  return Math.round((sum / one.length) * 1000) / 1000;
}
