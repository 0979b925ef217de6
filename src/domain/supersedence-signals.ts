import { isStopWord } from "./keywords.ts";

/** A verb and its preposition further apart than this do not belong together. */
const SUBJECT_MAX_CHARS = 200;
/** Terms of one text; more would be a list, not a change. */
const TERMS_MAX = 64;

/**
 * Verbs that name what they end, each with the word that follows the name. The lookbehind is a word boundary that knows more
 * letters than `\b`.
 */
const SIGNALS: readonly { readonly verb: RegExp; readonly until: string }[] = [
  { verb: /(?<![\p{L}\p{N}_])(?:migrated?|switch(?:ed)?|moved?)$/iu, until: "to" },
  { verb: /(?<![\p{L}\p{N}_])replaced?$/iu, until: "with" },
];

/**
 * What a text says was given up, in lower case: `switched from Red Hat to Debian` gives `red hat`, `red`, `hat`. The name is the
 * shortest text between verb and preposition on one line; its words count too, except stop words. A text that ends something
 * without such a name (`no longer used`) gives nothing, because the words do not say what it is about.
 */
export function retiredTerms(text: string): readonly string[] {
  const terms = new Set<string>();
  for (const line of text.split(/(?<=\n)/)) {
    // A blank at the end leaves an empty word there, so that every other word is followed by a blank.
    for (const subject of subjectsOf(line.split(/\s+/))) {
      for (const term of [subject.join(" "), ...subject]) {
        if (terms.size === TERMS_MAX) return [...terms];
        if (!isStopWord(term)) terms.add(term);
      }
    }
  }
  return [...terms];
}

function* subjectsOf(words: readonly string[]): Generator<readonly string[]> {
  for (const [index, word] of words.entries()) {
    for (const { verb, until } of SIGNALS) {
      if (!verb.test(word)) continue;
      const subject = subjectAfter(words, index, until);
      if (subject !== undefined) yield subject;
    }
  }
}

/** The words from a verb to its preposition, at least one. A word at the end of the text is not a preposition. */
function subjectAfter(
  words: readonly string[],
  verb: number,
  until: string,
): readonly string[] | undefined {
  const skipsFrom = until === "to" && words[verb + 1]?.toLowerCase() === "from";
  const subject: string[] = [];
  let chars = 0;
  for (let at = verb + (skipsFrom ? 2 : 1); at < words.length - 1; at += 1) {
    const word = (words[at] ?? "").toLowerCase();
    if (word === until && subject.length > 0) return subject;
    chars += word.length + 1;
    if (chars > SUBJECT_MAX_CHARS) return undefined;
    subject.push(word);
  }
  return undefined;
}
