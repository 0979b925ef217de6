import { analyse } from "./lexical-analysis.ts";

/**
 * What a text says is no longer so: `no longer works for Altova but for Corvex`, `yoga instead of chess`, `nicht mehr bei Altova,
 * sondern`, `en vez de café`. Read from its words alone, in the languages of the words of change.
 */

/** Phrases before what has ended, and the word that closes it where the phrase has two parts. */
const ALL: readonly { readonly phrase: readonly string[]; readonly closing?: string }[] = [
  ...phrases(
    `no longer|not anymore|stopped|quit|gave up|given up|instead of|rather than|in place of|switched from|moved from|migrated from|changed from|
    got rid of|gave away|traded|swapped|exchanged|sold|left|
    nicht mehr|statt|anstatt|anstelle von|anstelle|ya no|en vez de|en lugar de|dejo de|dejado de|deje de|dejado|vendio|vendido|abandono|abandonado`,
  ),
  ...phrases("kein|keine|keinen|keinem|keiner").map((one) => ({ ...one, closing: "mehr" })),
];
/** The same by their first word. */
const OPENINGS = Map.groupBy(ALL, ({ phrase: [first = ""] }) => first);
/** Words after which a sentence says what is so instead. */
const TURNS = new Set(
  analyse(
    `but and or now to since because sondern und oder jetzt nun inzwischen sino y pero ahora porque mehr`,
  ),
);
/** Words of what has ended, at most. */
const ENDED_MAX = 6;

function phrases(list: string): { readonly phrase: readonly string[] }[] {
  return list.split("|").map((phrase) => ({ phrase: analyse(phrase) }));
}

/** The words of a text that name what has ended. @param words as the analyser gives them */
export function endedWords(words: readonly string[]): ReadonlySet<string> {
  const ended = new Set<string>();
  for (const [at, first] of words.entries()) {
    for (const { phrase, closing } of OPENINGS.get(first) ?? []) {
      if (!phrase.every((part, index) => words[at + index] === part)) continue;
      for (const word of after(words, at + phrase.length, closing)) ended.add(word);
    }
  }
  return ended;
}

function after(
  words: readonly string[],
  from: number,
  closing: string | undefined,
): readonly string[] {
  const few = words.slice(from, from + ENDED_MAX);
  if (closing !== undefined) {
    const end = few.indexOf(closing);
    return end === -1 ? [] : few.slice(0, end);
  }
  const end = few.findIndex((word) => TURNS.has(word));
  return end === -1 ? few : few.slice(0, end);
}
