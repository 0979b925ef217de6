import {
  count,
  decimal,
  flag,
  instant,
  list,
  member,
  nullable,
  object,
  sha256,
  text,
  uuid,
} from "../../lib/form.ts";
import type { ValueOf } from "../../lib/view.ts";

export const SOURCE_KINDS = ["photo", "video"] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** How it is known when a photo or video was taken. */
export const CAPTURE_CLOCKS = ["given", "exif", "container", "file", "now"] as const;
export type CaptureClock = (typeof CAPTURE_CLOCKS)[number];

/** Why a frame was kept: the first one, one that changed, or one after a time without a change. */
export const KEPT_REASONS = ["first", "change", "heartbeat"] as const;
export type KeptReason = (typeof KEPT_REASONS)[number];

/** What became of a frame that was kept. */
export const OBSERVATION_STATUSES = ["admitted", "repeat", "already_observed", "failed"] as const;
export type ObservationStatus = (typeof OBSERVATION_STATUSES)[number];

/** A frame that was looked at. */
const loggedFrameForm = object({
  /** From 0. */
  index: count,
  /** Seconds from the beginning; undefined for a photo. */
  timeS: nullable(decimal),
  /** How much it differs from the last one that was kept; undefined for the first. */
  change: nullable(decimal),
  kept: flag,
  /** Undefined: it was not. */
  reason: nullable(member(KEPT_REASONS)),
});

const observationForm = object({
  index: count,
  timeS: nullable(decimal),
  frameSha256: sha256,
  change: nullable(decimal),
  keptReason: member(KEPT_REASONS),
  status: member(OBSERVATION_STATUSES),
  /** Of its description and the one before it, where both quote the same texts. */
  similarity: nullable(decimal),
  /** Undefined: nothing was stored of it. */
  eventId: nullable(uuid),
  eventTime: instant,
  /** How far extraction from its description is; undefined: nothing is extracted from it. */
  extraction: nullable(text),
  error: nullable(text),
  /** Undefined: the model was not asked, or failed. */
  description: nullable(text),
  describeSeconds: nullable(decimal),
  admitSeconds: nullable(decimal),
});

/** What one observation of a photo or video did. */
export const observationReportForm = object({
  source: text,
  kind: member(SOURCE_KINDS),
  /** Absolute, links resolved; undefined for bytes. */
  sourcePath: nullable(text),
  sourceSha256: sha256,
  capturedAt: instant,
  captureClock: member(CAPTURE_CLOCKS),
  visionModel: text,
  describePromptVersion: count,
  /** Whether claims are extracted from what was stored. */
  extract: flag,
  /** Frames that were looked at. */
  frames: count,
  keyframes: count,
  described: count,
  repeatsDropped: count,
  alreadyObserved: count,
  admitted: count,
  failed: count,
  /** Of what this call admitted. */
  eventIds: list(uuid),
  keyframeLog: list(loggedFrameForm),
  /** Of the frames that were kept, as far as the call came. */
  observations: list(observationForm),
});

export type FrameObservation = ValueOf<typeof observationForm>;
export type ObservationReport = ValueOf<typeof observationReportForm>;
