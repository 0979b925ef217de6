import { isStopWord } from "./lexical-analysis.ts";

/** A verb and its preposition further apart than this do not belong together. */
const SUBJECT_MAX_CHARS = 200;
/** Terms of one text; more would be a list, not a change. */
const TERMS_MAX = 64;
/** Words before a verb that are read for who gave something up. */
const ACTOR_MAX_WORDS = 20;
const SENTENCE_END = /[.!?;:]["')\]]*$/;

/**
 * Verbs that name what they end, each with the word that follows the name. The lookbehind is a word boundary that knows more
 * letters than `\b`.
 */
const SIGNALS: readonly { readonly verb: RegExp; readonly until: string }[] = [
  { verb: /(?<![\p{L}\p{N}_])(?:migrated?|switch(?:ed)?|moved?)$/iu, until: "to" },
  { verb: /(?<![\p{L}\p{N}_])replaced?$/iu, until: "with" },
];

/** What somebody gave up. */
export type GivenUp = {
  /** The words of the sentence before the verb, as written: who did it. */
  readonly actor: readonly string[];
  /** The name and its words, in lower case, without stop words. */
  readonly terms: readonly string[];
};

/**
 * What a text says was given up: `Ann switched from Red Hat to Debian` gives `red hat`, `red`, `hat`, given up by `Ann`. The name is
 * the shortest text between verb and preposition on one line; its words count too, except stop words. A text that ends something
 * without such a name (`no longer used`) gives nothing, because the words do not say what it is about.
 */
export function givenUp(text: string): readonly GivenUp[] {
  const found: GivenUp[] = [];
  const known = new Set<string>();
  for (const line of text.split(/(?<=\n)/)) {
    // A blank at the end leaves an empty word there, so that every other word is followed by a blank.
    const words = line.split(/\s+/);
    for (const { verb, subject } of subjectsOf(words)) {
      const actor = actorBefore(words, verb);
      const terms = [...new Set([subject.join(" "), ...subject])].filter(
        (term) => !isStopWord(term),
      );
      const key = JSON.stringify([actor, terms]);
      if (terms.length === 0 || known.has(key)) continue;
      if (known.size === TERMS_MAX) return found;
      known.add(key);
      found.push({ actor, terms });
    }
  }
  return found;
}

function* subjectsOf(
  words: readonly string[],
): Generator<{ readonly verb: number; readonly subject: readonly string[] }> {
  for (const [index, word] of words.entries()) {
    for (const { verb, until } of SIGNALS) {
      if (!verb.test(word)) continue;
      const subject = subjectAfter(words, index, until);
      if (subject !== undefined) yield { verb: index, subject };
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

/** The words of a sentence before its verb. */
function actorBefore(words: readonly string[], verb: number): readonly string[] {
  const before = words.slice(Math.max(0, verb - ACTOR_MAX_WORDS), verb);
  return before.slice(before.findLastIndex((word) => SENTENCE_END.test(word)) + 1);
}
