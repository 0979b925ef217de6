import { formatDecimal, parseDecimal } from "../../lib/decimal.ts";
import { groundQuantity, onlyNumberIn } from "../quantity.ts";
import type { ExtractedQuantity } from "./result.ts";

/** Units that are unmistakable directly after a number. */
const UNITS =
  "USD|EUR|GBP|JPY|CAD|AUD|CHF|CNY|INR|%|percent(?:ages?)?|milli(?:meters?|metres?)|centi(?:meters?|metres?)|kilo(?:meters?|metres?)|meters?|metres?|mm|cm|km|milligrams?|kilograms?|grams?|mg|kg|millilit(?:er|re)s?|lit(?:er|re)s?|ml|gallons?|volts?|amperes?|amps?|watts?|bytes?|KB|MB|GB|TB|packages?|items?|files?|records?|requests?|users?|tickets?|tasks?|units?|people";
const AFTER = new RegExp(String.raw`^\s?(${UNITS})(?![\p{L}/])`, "iu");
const BEFORE = /([$€£¥])\s*$/;

/**
 * The amount that an object names itself, if it names exactly one and the passage confirms it.
 * @param passage what was said
 */
export function recoverQuantity(object: string, passage: string): ExtractedQuantity | undefined {
  const number = onlyNumberIn(object);
  if (number === undefined) return undefined;
  const at = object.indexOf(number);
  const before = object.slice(0, at);
  const after = object.slice(at + number.length);
  if (/[\p{L}]-$|\p{N},$/u.test(before)) return undefined;
  const sign = BEFORE.exec(before);
  const unit = sign?.[1] ?? AFTER.exec(after)?.[1];
  const value = parseDecimal(number.replaceAll(",", ""));
  if (unit === undefined || value === undefined) return undefined;
  const sourceText =
    sign === null ? `${number}${AFTER.exec(after)?.[0] ?? ""}` : `${sign[0]}${number}`;
  const quantity = { value: formatDecimal(value), unit, sourceText };
  return groundQuantity(quantity, { passage, object }) === undefined ? undefined : quantity;
}
