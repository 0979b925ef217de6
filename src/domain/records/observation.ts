import * as f from "../../lib/form.ts";
import { foldCase } from "../../lib/text.ts";

const SOURCE_KINDS = ["photo", "video"] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** The source of the time of a photo or video. */
export const CAPTURE_CLOCKS = ["given", "exif", "container", "file", "now"] as const;
export type CaptureClock = (typeof CAPTURE_CLOCKS)[number];

/** Why a frame was kept: the first, a changed one, or one after a period without change. */
const KEPT_REASONS = ["first", "change", "heartbeat"] as const;
export type KeptReason = (typeof KEPT_REASONS)[number];

/** What happened to a kept frame. */
const OBSERVATION_STATUSES = ["admitted", "repeat", "already_observed", "failed"] as const;
export type ObservationStatus = (typeof OBSERVATION_STATUSES)[number];

const loggedFrameForm = f.object({
  /** From 0. */
  index: f.count,
  /** Seconds from the beginning; undefined for a photo. */
  timeS: f.nullable(f.decimal),
  /** Difference from the last kept frame; undefined for the first. */
  change: f.nullable(f.decimal),
  kept: f.flag,
  /** Undefined: it was not. */
  reason: f.nullable(f.member(KEPT_REASONS)),
});

const observationForm = f.object({
  index: f.count,
  timeS: f.nullable(f.decimal),
  frameSha256: f.sha256,
  change: f.nullable(f.decimal),
  keptReason: f.member(KEPT_REASONS),
  status: f.member(OBSERVATION_STATUSES),
  /** Similarity of its description and the previous one, if both quote the same texts. */
  similarity: f.nullable(f.decimal),
  /** Undefined: nothing was stored for it. */
  eventId: f.nullable(f.uuid),
  eventTime: f.instant,
  /** Extraction status of its description; undefined: nothing is extracted. */
  extraction: f.nullable(f.text),
  error: f.nullable(f.text),
  /** Undefined: the model was not asked, or failed. */
  description: f.nullable(f.text),
  describeSeconds: f.nullable(f.decimal),
  admitSeconds: f.nullable(f.decimal),
});

/** The result of observing a photo or video. */
export const observationReportForm = f.object({
  source: f.text,
  kind: f.member(SOURCE_KINDS),
  /** Absolute, links resolved; undefined for bytes. */
  sourcePath: f.nullable(f.text),
  sourceSha256: f.sha256,
  capturedAt: f.instant,
  captureClock: f.member(CAPTURE_CLOCKS),
  visionModel: f.text,
  describePromptVersion: f.count,
  /** Whether claims are extracted from what was stored. */
  extract: f.flag,
  frames: f.count,
  keyframes: f.count,
  described: f.count,
  repeatsDropped: f.count,
  alreadyObserved: f.count,
  admitted: f.count,
  failed: f.count,
  /** Of what this call admitted. */
  eventIds: f.list(f.uuid),
  keyframeLog: f.list(loggedFrameForm),
  /** Of the kept frames processed by the call. */
  observations: f.list(observationForm),
});

export type FrameObservation = f.ValueOf<typeof observationForm>;
export type ObservationReport = f.ValueOf<typeof observationReportForm>;

/** A text between double quotes, straight or curly. */
const QUOTED = /["“”]([^"“”]{1,200})["“”]/gu;
const DASHES = /\p{Pd}+/gu;
const EDGES = /^[\s.,;:!?]+|[\s.,;:!?]+$/gu;

/** The texts that a description quotes, each once, normalized: ignoring case, dashes as blanks, without final punctuation. */
export function quotedValues(description: string): ReadonlySet<string> {
  const values = Array.from(description.matchAll(QUOTED), ([, quoted = ""]) =>
    foldCase(quoted).replace(DASHES, " ").replace(/\s+/gu, " ").replace(EDGES, ""),
  );
  return new Set(values.filter((value) => value !== ""));
}

/** Whether two descriptions quote the same texts; also true if both quote none. */
export function quotesTheSame(one: string, other: string): boolean {
  const [values, others] = [quotedValues(one), quotedValues(other)];
  return values.size === others.size && [...values].every((value) => others.has(value));
}

/** Grid cells of a frame's greys, whatever its shape. */
export const GREYS_WIDTH = 64;
export const GREYS_HEIGHT = 36;

/** Mean greys from 0 to 255, row by row: the part of a frame that is compared. */
export type Greys = Float64Array;

type SelectionOptions = {
  /** Minimum change for keeping a frame. */
  readonly changeThreshold: number;
  /** Seconds after the last kept frame at which a frame is kept in any case. */
  readonly maxGapSeconds: number;
};

/** Whether a frame is kept, and why. */
export type Verdict = {
  /** Mean difference from the greys of the last kept frame, three decimals; undefined for the first. */
  readonly change: number | undefined;
  readonly reason: KeptReason | undefined;
};

/** Decides which frames of a video are kept. Holds only the greys of the last kept frame. */
type Selection = {
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
