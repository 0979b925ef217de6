import { foldCase } from "./text.ts";

const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/**
 * Text for comparison without regard to spelling: NFKC, trimmed, full case folding, each run of white space one blank.
 */
export function normaliseText(text: string): string {
  // Most texts are plain words, for which lower case is all there is to do.
  if (PLAIN.test(text)) return text.toLowerCase();
  return foldCase(text.normalize("NFKC").trim()).replace(/\s+/g, " ");
}
