import { endedWords } from "./endings.ts";
import { givenUpInAll } from "./given-up-forms.ts";
import { analyse, stem } from "./lexical-analysis.ts";
import { PERSONS } from "./persons.ts";
import { isEmptyWord } from "./replacement.ts";
import { givenUp } from "./supersedence-signals.ts";

/**
 * Which memories a new one makes untrue by what it says was given up. Two things decide: the older one names what was given up, in
 * whole words, and both are about the same people. A memory about somebody else, who may still have it, stays.
 */

/** Words beside a name that do not say who somebody is. */
const ADVERBS = wordSet("finally recently just already officially eventually gradually also then");
/** The same, where one speaks of oneself. */
const PRONOUNS = wordSet(
  "he she they his her their him them er sie ihr ihre sein seine ella ellos ellas",
);
/** Words before a verb that leave open whether it happened. `t` is what is left of `didn't`. */
const OPEN = wordSet(
  `not never t might may could would should will wants plans planned considering if when whether
  nicht nie niemals kein keine konnte wurde mochte plant falls wenn ob nunca podria quiere planea si cuando`,
);
/** Words that join somebody else to the one a sentence is about. */
const JOINING = wordSet("and with und mit y e con");

type Word = { readonly folded: string; readonly isName: boolean };

/** Whether an older text says what a new one gives up. Undefined: the new one gives up nothing. */
export function retirementBy(text: string): ((older: string) => boolean) | undefined {
  if (text.includes("?")) return undefined;
  const named = givenUp(text).filter(hasHappened);
  const inAll = givenUpInAll(text).filter(hasHappened);
  if (named.length === 0 && inAll.length === 0) return undefined;
  const said = new Set(analyse(text));
  return (older) => {
    const lower = older.toLowerCase();
    const about = readOlder(older, said);
    return (
      named.some(({ actor, terms }) =>
        terms.some((term) => isAboutTheSame(actor, terms, about, wholeWordAt(lower, term))),
      ) ||
      inAll.some(
        ({ actor, words }) =>
          words.every((word) => about.stems.has(stem(word))) &&
          !words.every((word) => about.ended.has(word)) &&
          isAboutTheSame(actor, words, about, lastOf(lower, words)),
      )
    );
  };
}

function hasHappened({ actor }: { readonly actor: readonly string[] }): boolean {
  return !actor.flatMap(analyse).some((word) => OPEN.has(word));
}

/** An older text, as one that gives something up is compared with it. */
type Older = {
  readonly text: string;
  readonly words: readonly Word[];
  /** The words of the new text. */
  readonly said: ReadonlySet<string>;
  readonly ended: ReadonlySet<string>;
  readonly stems: ReadonlySet<string>;
};

function readOlder(text: string, said: ReadonlySet<string>): Older {
  const analysed = analyse(text);
  const stems = new Set(analysed.map(stem));
  return { text, words: wordsOf(text), said, ended: endedWords(analysed), stems };
}

/** Where the last of some words stands in a text; its end if all are inflected there. */
function lastOf(text: string, words: readonly string[]): number {
  const last = Math.max(...words.map((word) => wholeWordAt(text, word)));
  return last === -1 ? text.length : last;
}

/** Where a term stands in a text as whole words; -1: nowhere. */
function wholeWordAt(text: string, term: string): number {
  for (let at = text.indexOf(term); at !== -1; at = text.indexOf(term, at + 1)) {
    const end = at + term.length;
    if (!joins(text[at - 1], text[at]) && !joins(text[end - 1], text[end])) return at;
  }
  return -1;
}

const LETTER = /[\p{L}\p{N}\p{M}_]/u;

function joins(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && LETTER.test(one) && LETTER.test(other);
}

/**
 * Whether an older text is about those who gave something up, and about nobody else.
 * @param given the words of what was given up
 * @param at where the older text names that; -1: nowhere
 */
function isAboutTheSame(
  actor: readonly string[],
  given: readonly string[],
  { text, words, said, ended }: Older,
  at: number,
): boolean {
  if (at === -1) return false;
  const known = new Set(words.map(({ folded }) => folded));
  const who = whoOf(wordsOf(actor.join(" ")));
  if (!who.every((word) => known.has(word))) return false;
  const others = who.length === 0 ? PERSONS.union(PRONOUNS) : PERSONS;
  if (words.some(({ folded }) => others.has(folded) && !said.has(folded))) return false;
  const names = new Set(given.flatMap(analyse)).union(ended);
  const isOther = ({ folded, isName }: Word) => isName && !said.has(folded) && !names.has(folded);
  const isJoined = (index: number) =>
    [index - 1, index + 1].some((beside) => JOINING.has(words[beside]?.folded ?? ""));
  if (words.some((word, index) => isOther(word) && isJoined(index))) return false;
  return !wordsOf(text.slice(0, at)).some(isOther);
}

/** The names among words, else all words that say something. */
function whoOf(words: readonly Word[]): readonly string[] {
  const telling = words.filter(({ folded }) => !isEmptyWord(folded) && !ADVERBS.has(folded));
  const names = telling.filter(({ isName }) => isName);
  return (names.length > 0 ? names : telling).map(({ folded }) => folded);
}

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const CAPITAL = /^\p{Lu}/u;

function wordsOf(text: string): readonly Word[] {
  return Array.from(text.matchAll(WORD), ([word]) => {
    const folded = analyse(word).join(" ");
    return { folded, isName: CAPITAL.test(word) && !isEmptyWord(folded) };
  });
}

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/));
}
