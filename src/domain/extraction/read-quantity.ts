import { formatDecimal, parseDecimal } from "../../lib/decimal.ts";
import type { Json } from "../../lib/json.ts";
import { onlyNumberIn } from "../quantity.ts";
import type { ExtractedQuantity } from "./result.ts";

/** Code points. */
const MAX_CHARS = { value: 200, unit: 100, sourceText: 500 } as const;

/**
 * Reads the amount of a fact. Its value must be exact: a whole number, or a decimal as text. A binary fraction is not, so its value is
 * read again from the words of the text.
 * @returns undefined where there is none, or a malformed one: the fact is kept without it
 */
export function readQuantity(given: Json | undefined): ExtractedQuantity | undefined {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return undefined;
  const members = new Map<string, Json>(Object.entries(given));
  const unit = trimmed(members.get("unit"), MAX_CHARS.unit);
  const sourceText = trimmed(members.get("source_text"), MAX_CHARS.sourceText);
  if (unit === undefined || sourceText === undefined) return undefined;
  const value = amountFrom(members.get("value"), sourceText);
  return value === undefined ? undefined : { value, unit, sourceText };
}

function amountFrom(given: Json | undefined, sourceText: string): string | undefined {
  if (typeof given === "number") {
    const isExact = Number.isSafeInteger(given);
    return plain(isExact ? String(given) : onlyNumberIn(sourceText)?.replaceAll(",", ""));
  }
  return plain(trimmed(given, MAX_CHARS.value));
}

/** In plain notation, with all its places. */
function plain(text: string | undefined): string | undefined {
  const value = text === undefined ? undefined : parseDecimal(text);
  return value === undefined ? undefined : formatDecimal(value);
}

function trimmed(value: Json | undefined, max: number): string | undefined {
  if (typeof value !== "string" || !value.isWellFormed()) return undefined;
  const text = value.trim();
  return text !== "" && text.length <= 2 * max && [...text].length <= max ? text : undefined;
}
