import { blockChange, type Crop, cropOf } from "./block-change.ts";
import { createPhaseShifts, type Spectrum } from "./phase-shift.ts";
import type { Signature } from "./signature.ts";

export type SelectionOptions = {
  /** Change from which on a frame is kept. */
  readonly changeThreshold: number;
  /** Seconds after the frame kept last from which on a frame is kept in any case. */
  readonly maxGapSeconds: number;
};

/** Whether a frame is kept, and why. */
export type Verdict = {
  /** Against the frame kept last, three decimals; undefined for the first. */
  readonly change: number | undefined;
  readonly reason: "first" | "change" | "heartbeat" | undefined;
};

/** Decides which frames of a video are kept. It holds the signature of the frame kept last, and no others. */
export type Selection = {
  /** Frames are given in order. @param timeS seconds from the beginning of the video */
  offer(signature: Signature, timeS: number): Verdict;
};

type Reference = { readonly spectrum: Spectrum; readonly crop: Crop; readonly timeS: number };

export function createSelection({ changeThreshold, maxGapSeconds }: SelectionOptions): Selection {
  const shifts = createPhaseShifts();
  let reference: Reference | undefined;
  const judge = (signature: Signature, spectrum: Spectrum, timeS: number): Verdict => {
    if (reference === undefined) return { change: undefined, reason: "first" };
    const shift = shifts.between(reference.spectrum, spectrum);
    const change = blockChange(reference.crop, cropOf(signature, shift));
    if (change >= changeThreshold) return { change, reason: "change" };
    const isLate = timeS - reference.timeS >= maxGapSeconds;
    return { change, reason: isLate ? "heartbeat" : undefined };
  };
  return {
    offer: (signature, timeS) => {
      const spectrum = shifts.spectrumOf(signature);
      const verdict = judge(signature, spectrum, timeS);
      if (verdict.reason !== undefined) {
        reference = { spectrum, crop: cropOf(signature), timeS };
      }
      return verdict;
    },
  };
}
