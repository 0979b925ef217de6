import { invalid } from "../../domain/errors.ts";
import { parseInstantInput } from "../../domain/lifecycle.ts";
import { type Instant, parseInstant } from "../../lib/instant.ts";

/**
 * A moment that a person wrote; without an offset it is local time.
 * @throws SvcError invalid_argument
 */
export function momentOf(text: string | undefined, option: string): Instant | undefined {
  if (text === undefined) return undefined;
  if (parseInstant(text) !== "naive") return parseInstantInput(text, option);
  // A date alone would be read as one of UTC.
  const local = /\d:\d/.test(text) ? text.trim() : `${text.trim()}T00:00`;
  const date = new Date(local.replace(" ", "T"));
  if (Number.isNaN(date.getTime())) throw invalid(option, `${JSON.stringify(text)} is no time`);
  return parseInstantInput(date, option);
}
