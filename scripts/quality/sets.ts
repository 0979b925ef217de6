import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Two memories and a question that is about both. */
export type Pair = {
  readonly kind: string;
  readonly language: string;
  readonly first: string;
  readonly second: string;
  readonly question: string;
  readonly half: Half;
};
export type Question = {
  readonly language: string;
  readonly question: string;
  readonly half: Half;
};

/** A memory, a question about it in its own language, and one in another language. */
export type ForeignFact = {
  readonly language: string;
  readonly content: string;
  readonly question: string;
  readonly foreignLanguage: string;
  readonly foreign: string;
};

/** Constants were fixed on the first half; the second one was only measured. */
export const HALVES = ["tuning", "held out"] as const;
export type Half = (typeof HALVES)[number];

/** Changes of mind: `second` replaces `first`. */
export function readChanges(): readonly Pair[] {
  return pairsOf("changes.txt");
}

/** Pairs that look alike and are both true. */
export function readPairs(): readonly Pair[] {
  return pairsOf("pairs.txt");
}

/**
 * Pairs of which the second memory says what ended: another thing or another person's (`other`), or what the first one states
 * (`ended`); and pairs that are both true and look like a change (`alike`). Written and committed before any run.
 */
export function readEndings(): readonly Pair[] {
  return pairsOf("endings.txt");
}

/** Questions that no memory of the sets answers. */
export function readUnanswerable(): readonly Question[] {
  return linesOf("unanswerable.txt").map(([language = "", question = ""], index) => ({
    language,
    question,
    half: halfOf(index),
  }));
}

/** Memories beside those of the sets. */
export function readFiller(): readonly string[] {
  return linesOf("filler.txt").map(([, text = ""]) => text);
}

/** Memories in ten languages. */
export function readLanguages(): readonly ForeignFact[] {
  return linesOf("languages.txt").map(
    ([
      language = "",
      _kind = "",
      content = "",
      question = "",
      foreignLanguage = "",
      foreign = "",
    ]) => ({ language, content, question, foreignLanguage, foreign }),
  );
}

/** Talk in several languages. */
export function readTalk(): readonly { readonly language: string; readonly text: string }[] {
  return linesOf("talk.txt").map(([language = "", text = ""]) => ({ language, text }));
}

function pairsOf(file: string): readonly Pair[] {
  return linesOf(file).map(
    ([kind = "", language = "", first = "", second = "", question = ""], index) => ({
      kind,
      language,
      first,
      second,
      question,
      half: halfOf(index),
    }),
  );
}

/** Every other line, so that each kind and each language is in both. */
function halfOf(index: number): Half {
  return index % 2 === 0 ? "tuning" : "held out";
}

function linesOf(file: string): readonly (readonly string[])[] {
  return readFileSync(join(import.meta.dir, "data", file), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split(" | "));
}
