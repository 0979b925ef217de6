import type { Instant } from "../../../lib/instant.ts";

/** ISO 8601 with `+00:00`; a zero fraction is left out. */
export function isoTime(instant: Instant): string {
  const fraction = instant.slice(19, 26);
  return `${instant.slice(0, 19)}${fraction === ".000000" ? "" : fraction}+00:00`;
}

/** Date and second in UTC. */
export function storedTime(instant: Instant): string {
  return `${instant.slice(0, 10)} ${instant.slice(11, 19)}`;
}

/** Date and minute in UTC; midnight is shown as the date alone. */
export function shortTime(instant: Instant): string {
  const time = instant.slice(11, 16);
  const date = instant.slice(0, 10);
  return time === "00:00" ? date : `${date} ${time}`;
}
