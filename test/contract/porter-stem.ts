/**
 * The stem of an English word by Porter's algorithm of 1980, under which the word index compares words: "running" and "runs"
 * have the stem "run". Words of fewer than three letters stay as they are.
 */
export function porterStem(word: string): string {
  if (word.length < 3) return word;
  const plural = word.replace(/(ss|i)es$/, "$1").replace(/([^s])s$/, "$1");
  return lastE(shorten(shorten(shorten(lastY(past(plural)), DOUBLE, 0), SINGLE, 0), LAST, 1));
}

/** Letters of a word as consonants (c) and vowels (v); a `y` is a vowel behind a consonant. */
function letters(stem: string): string {
  let kinds = "";
  for (const letter of stem) {
    const isVowel = "aeiou".includes(letter) || (letter === "y" && kinds.endsWith("c"));
    kinds += isVowel ? "v" : "c";
  }
  return kinds;
}

/** How often consonants follow vowels. */
function measure(stem: string): number {
  return letters(stem).match(/v+c+/g)?.length ?? 0;
}

const hasVowel = (stem: string): boolean => letters(stem).includes("v");
const endsShort = (stem: string): boolean => /cvc$/.test(letters(stem)) && !/[wxy]$/.test(stem);

function past(word: string): string {
  if (word.endsWith("eed")) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const stem = word.replace(/(ed|ing)$/, "");
  if (stem === word || !hasVowel(stem)) return word;
  if (/(at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (/([^aeioulsz])\1$/.test(stem)) return stem.slice(0, -1);
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem;
}

function lastY(word: string): string {
  return word.endsWith("y") && hasVowel(word.slice(0, -1)) ? `${word.slice(0, -1)}i` : word;
}

type Endings = readonly (readonly [ending: string, replacement: string])[];

const endings = (text: string): Endings =>
  text.split(" ").map((pair) => {
    const [ending = "", replacement = ""] = pair.split(">");
    return [ending, replacement] as const;
  });

const DOUBLE = endings(
  `ational>ate tional>tion enci>ence anci>ance izer>ize logi>log bli>ble alli>al entli>ent eli>e ousli>ous
  ization>ize ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous aliti>al iviti>ive biliti>ble`.replaceAll(
    /\s+/g,
    " ",
  ),
);
const SINGLE = endings("icate>ic ative> alize>al iciti>ic ical>ic ful> ness>");
const LAST = endings(
  "al> ance> ence> er> ic> able> ible> ant> ement> ment> ent> sion>s tion>t ou> ism> ate> iti> ous> ive> ize>",
);

/** Replaces the first ending that the word has, where what is left before it measures more than `least`. */
function shorten(word: string, list: Endings, least: number): string {
  const found = list.find(([ending]) => word.endsWith(ending));
  if (found === undefined) return word;
  const shorter = word.slice(0, word.length - found[0].length) + found[1];
  const isLong =
    measure(word.slice(0, word.length - found[0].length) + (least > 0 ? found[1] : "")) > least;
  return isLong ? shorter : word;
}

function lastE(word: string): string {
  const stem = word.replace(/e$/, "");
  const size = measure(stem);
  const short = stem !== word && (size > 1 || (size === 1 && !endsShort(stem))) ? stem : word;
  return short.endsWith("ll") && measure(short) > 1 ? short.slice(0, -1) : short;
}
