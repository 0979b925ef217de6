import type { JsonObject } from "../lib/json.ts";
import { normaliseText } from "../lib/normal-text.ts";

/** What a memory states in parts, trimmed, as written in its metadata. None is blank. */
export type Claim = {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  /** `positive` if the metadata has none. */
  readonly polarity: string;
};

/** The polarity of a claim that names none. */
export const POSITIVE = "positive";

/** The claim in a memory's metadata; undefined if a part is missing, blank or not text. */
export function readClaim(metadata: JsonObject | undefined): Claim | undefined {
  if (metadata === undefined) return undefined;
  const subject = textOf(metadata["subject"]);
  const predicate = textOf(metadata["predicate"]);
  const object = textOf(metadata["object"]);
  const polarity = textOf(metadata["polarity"] ?? POSITIVE);
  if (subject === undefined || predicate === undefined) return undefined;
  return object === undefined || polarity === undefined
    ? undefined
    : { subject, predicate, object, polarity };
}

/** Trimmed text; undefined if nothing is left, or the value is not text. */
function textOf(value: JsonObject[string] | undefined): string | undefined {
  const text = typeof value === "string" ? value.trim() : "";
  return text === "" ? undefined : text;
}

/** A predicate for comparison: `Works at`, `works-at` and `works_at` are the same. */
export function normalisePredicate(text: string): string {
  return normaliseText(text).replace(/[\s-]+/g, "_");
}

/** The claim for comparison. */
export function normaliseClaim(claim: Claim): Claim {
  return {
    subject: normaliseText(claim.subject),
    predicate: normalisePredicate(claim.predicate),
    object: normaliseText(claim.object),
    polarity: normaliseText(claim.polarity),
  };
}
