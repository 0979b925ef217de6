import type { JsonObject } from "../../../lib/json.ts";

/** Key of the newest memory that a job has looked at, in the place that it saved; 0: none yet. */
export function seenIn(place: JsonObject | undefined): number {
  const seen = place?.["seen"];
  return typeof seen === "number" ? seen : 0;
}
