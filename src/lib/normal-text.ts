import { normalForm } from "./normal-form.ts";
import { foldCase } from "./text.ts";

const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/** Text for comparison that ignores spelling variants: NFKC, trimmed, full case folding, each run of white space as one blank. */
export function normaliseText(text: string): string {
  // Most texts are plain words, for which lower case is enough.
  if (PLAIN.test(text)) return text.toLowerCase();
  return foldCase(normalForm("NFKC", text).trim()).replace(/\s+/g, " ");
}
