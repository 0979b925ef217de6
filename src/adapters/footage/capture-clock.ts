import { fromDate, fromEpochMicros, type Instant, parseInstant } from "../../lib/instant.ts";
import type { FootageClock } from "../../ports/footage.ts";
import type { ExifTime } from "./messages.ts";

/** What is known of the time at which something was captured. */
export type ClockEvidence = {
  readonly exif?: ExifTime | undefined;
  /** The time in the container of a video; without an offset it is UTC. */
  readonly created?: string | undefined;
  readonly durationS?: number | undefined;
  /** Microseconds since the Unix epoch; undefined for bytes. */
  readonly modifiedMicros: number | undefined;
};

/** Milliseconds since the Unix epoch from which, and to which, an instant has a text. */
const FIRST_MS = Date.parse("0001-01-02T00:00Z");
const LAST_MS = Date.parse("9999-12-30T00:00Z");

export type CaptureTime = { readonly capturedAt: Instant; readonly captureClock: FootageClock };

/** The time of capture by the best evidence that there is. */
export function captureTime(evidence: ClockEvidence, now: () => Instant): CaptureTime {
  const exif = evidence.exif === undefined ? undefined : exifInstant(evidence.exif);
  if (exif !== undefined) return { capturedAt: exif, captureClock: "exif" };
  const container = evidence.created === undefined ? undefined : containerInstant(evidence.created);
  if (container !== undefined) return { capturedAt: container, captureClock: "container" };
  const file = fileInstant(evidence);
  if (file !== undefined) return { capturedAt: file, captureClock: "file" };
  return { capturedAt: now(), captureClock: "now" };
}

/** With an offset, the moment; without or with a bad one, the local time of this machine on that date. */
function exifInstant({ local, offset }: ExifTime): Instant | undefined {
  const exact = parseInstant(`${local}${offset ?? ""}`);
  if (typeof exact === "object") return exact.instant;
  const date = new Date(local);
  return isInYears(date.getTime()) ? fromDate(date) : undefined;
}

function containerInstant(created: string): Instant | undefined {
  const parsed = parseInstant(created);
  if (typeof parsed === "object") return parsed.instant;
  const utc = parsed === "naive" ? parseInstant(`${created.trim()}Z`) : "malformed";
  return typeof utc === "object" ? utc.instant : undefined;
}

/** A video was written when it ended. */
function fileInstant({ modifiedMicros, durationS }: ClockEvidence): Instant | undefined {
  if (modifiedMicros === undefined) return undefined;
  const micros = modifiedMicros - Math.round((durationS ?? 0) * 1e6);
  return isInYears(micros / 1000) ? fromEpochMicros(micros) : undefined;
}

function isInYears(ms: number): boolean {
  return ms >= FIRST_MS && ms <= LAST_MS;
}
