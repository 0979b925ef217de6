import { foldCase } from "../../lib/text.ts";

/** A text between double quotes, straight or curly. */
const QUOTED = /["“”]([^"“”]{1,200})["“”]/gu;
const DASHES = /\p{Pd}+/gu;
const EDGES = /^[\s.,;:!?]+|[\s.,;:!?]+$/gu;

/**
 * The texts that a description quotes, each once, as they are compared: without case, dashes as blanks, and without what ends a
 * sentence.
 */
export function quotedValues(description: string): ReadonlySet<string> {
  const values = Array.from(description.matchAll(QUOTED), ([, quoted = ""]) =>
    foldCase(quoted).replace(DASHES, " ").replace(/\s+/gu, " ").replace(EDGES, ""),
  );
  return new Set(values.filter((value) => value !== ""));
}

/** Whether two descriptions quote the same texts; two that quote nothing do. */
export function quotesTheSame(one: string, other: string): boolean {
  const [values, others] = [quotedValues(one), quotedValues(other)];
  return values.size === others.size && [...values].every((value) => others.has(value));
}
