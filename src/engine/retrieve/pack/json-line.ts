import { withoutInvisible } from "../../../lib/invisible.ts";

const UNICODE_LINE_BREAKS = /[\u0085\u2028\u2029]/g;

/**
 * A value as JSON without white space and invisible characters. It is one line even for readers that break lines at Unicode's own
 * separators.
 */
export function jsonLine(value: unknown): string {
  const line = JSON.stringify(value).replace(
    UNICODE_LINE_BREAKS,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return withoutInvisible(line);
}
