import { stringEnd } from "../../lib/json.ts";

/** Nesting depth of lists and objects: the 500 of a memory's metadata, and the levels around it. */
export const MAX_LEVELS = 512;
/** Entries of all lists and objects of one body. */
export const MAX_ENTRIES = 500_000;

/**
 * Why a JSON text must not be parsed; undefined if it may be. Otherwise a few megabytes of brackets or commas become hundreds of
 * megabytes of objects, and exceed the recursion limit of readers. Linear time.
 */
export function complaintAboutJson(text: string): string | undefined {
  // Too short for either limit.
  if (text.length <= MAX_LEVELS) return undefined;
  let levels = 0;
  let entries = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case '"':
        at = stringEnd(text, at) - 1;
        break;
      case "[":
      case "{":
        levels += 1;
        entries += 1;
        if (levels > MAX_LEVELS) {
          return `lists and objects are nested deeper than ${MAX_LEVELS} levels`;
        }
        break;
      case "]":
      case "}":
        levels -= 1;
        break;
      case ",":
        entries += 1;
        break;
      default:
    }
    if (entries > MAX_ENTRIES) {
      return `holds more than ${MAX_ENTRIES} entries; split it into several requests`;
    }
  }
  return undefined;
}
