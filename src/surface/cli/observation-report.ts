import { basename } from "node:path";
import type { SvcError } from "../../domain/errors.ts";
import type { FrameObservation, ObservationReport } from "../../domain/records/observation.ts";
import { shownName } from "../../lib/text.ts";
import { escaped, fields, shortened } from "./output.ts";

/** Characters of a description. */
const SHOWN_CHARS = 80;

/**
 * What an observation did, for a person.
 * @param told why it ended, which is told beside it; undefined: it did not
 */
export function reportLines(
  path: string,
  report: ObservationReport,
  told: string | undefined,
): readonly string[] {
  const { kind, visionModel, describePromptVersion: version } = report;
  const how = report.extract ? "extracted" : "stored as notes";
  const counts = fields([
    ["Capture clock", `${report.capturedAt} (${report.captureClock})`],
    ["Frames sampled", report.frames],
    ["Keyframes", report.keyframes],
    ["Described", report.described],
    ["Repeats dropped", report.repeatsDropped],
    ["Already observed", report.alreadyObserved],
    ["Admitted", report.admitted === 0 ? "0" : `${report.admitted} (${how})`],
    ["Failed", report.failed],
  ]);
  return [
    `${escaped(path)}: ${kind}, ${escaped(visionModel)}, prompt ${version}`,
    ...counts.map((line) => `  ${line}`),
    ...report.observations.flatMap((frame) => frameLine(frame, told)),
  ];
}

/** A file that was not observed, or not to its end. */
export function failureLine(path: string, error: SvcError): string {
  const { message } = error;
  // The message has the name, too, which says less than the path.
  const name = [path, basename(path)].map(shownName).find((one) => message.startsWith(one)) ?? "";
  return `Error: ${escaped(path)}: ${escaped(message.slice(name.length).replace(/^:? /, ""))}`;
}

/** The failure of a frame that ended the observation is not told twice. */
function isTold(error: string, told: string | undefined): boolean {
  return told?.endsWith(error.replace(/^\w+: /, "")) === true;
}

function frameLine(frame: FrameObservation, told: string | undefined): readonly string[] {
  const at = frame.timeS === undefined ? "" : `${frame.timeS} s  `;
  if (frame.status === "failed") {
    const error = frame.error ?? "";
    return [`  failed  ${at}${isTold(error, told) ? "" : escaped(error)}`.trimEnd()];
  }
  if (frame.status !== "admitted") return [];
  const state =
    frame.extraction === undefined || frame.extraction === "complete"
      ? ""
      : `  (extraction ${frame.extraction})`;
  return [`  ${frame.eventId}  ${at}${shortened(frame.description ?? "", SHOWN_CHARS)}${state}`];
}
