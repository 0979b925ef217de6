import { analyse, isStopWord, stem } from "./lexical-analysis.ts";
import { endedWords, isEmptyWord, PERSONS } from "./replacement.ts";

/**
 * Which memories a new one makes untrue by saying that something was given up. Two conditions: the older one mentions the thing in whole
 * words, and both are about the same people. A memory about someone else, who may still have it, stays.
 */

/** Words next to a name that do not identify a person. */
const ADVERBS = wordSet("finally recently just already officially eventually gradually also then");
/** The same, for statements about oneself. */
const PRONOUNS = wordSet(
  "he she they his her their him them er sie ihr ihre sein seine ella ellos ellas",
);
/** Words before a verb that leave open whether it happened. `t` is the rest of `didn't`. */
const OPEN = wordSet(
  `not never t might may could would should will wants plans planned considering if when whether
  nicht nie niemals kein keine konnte wurde mochte plant falls wenn ob nunca podria quiere planea si cuando`,
);
/** Words that add another person to the subject of a sentence. */
const JOINING = wordSet("and with und mit y e con");

type Word = { readonly folded: string; readonly isName: boolean };

/** Whether an older text states what a new one gives up. Undefined: the new one gives up nothing. */
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

/** An older text, prepared for comparison with one that gives something up. */
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

/** Where the last of some words occurs in a text; its end if all are inflected there. */
function lastOf(text: string, words: readonly string[]): number {
  const last = Math.max(...words.map((word) => wholeWordAt(text, word)));
  return last === -1 ? text.length : last;
}

/** Where a term occurs in a text as whole words; -1: nowhere. */
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
 * Whether an older text is only about those who gave something up.
 * @param given the words of what was given up
 * @param at where the older text mentions it; -1: nowhere
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

/** The names among words, else all content words. */
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

/**
 * Sentences that say what was given up and what replaced it, besides those of `supersedence-signals.ts`, in the languages of the words of
 * change. Excluded: possible journeys (`went from Bonn to Rome`) and trades (`sold cookies and lemonade`).
 */

/** Longer sentences are skipped. */
const SENTENCE_MAX_CHARS = 300;

const FORMS: readonly RegExp[] = [
  "no longer (?<name>.+?),? but",
  "nicht mehr (?<name>.+?),? sondern",
  "ya no (?<name>.+?),? sino",
  "(?:traded|swapped|exchanged) (?<name>.+?) (?:in )?for (?:an?|the|his|her|their|my|our)",
  "changed from (?<name>.+?) to",
  "(?:abandoned|dropped|ditched|gave up) (?<name>.+?) in favou?r of",
  "(?:stopped|quit|gave up) (?<name>\\p{L}+ing .+?) and",
  "got rid of (?<name>.+?) and",
  "(?:hat|habe|haben) (?<name>.+?) (?:gekündigt|aufgegeben|aufgelöst|abbestellt|verlassen) und",
  "(?:hat|habe|haben) (?<name>.+?) gegen .+ (?:getauscht|eingetauscht)",
  "(?:dejó|dejé|dejado|abandonó|abandonado) (?<name>.+?) y ahora",
  "von (?<name>.+?) (?:nach|zu|zum|zur|auf|in) .+ (?:gezogen|umgezogen|gewechselt|umgestiegen|umgestellt|migriert)",
  "(?:zog|wechselte) von (?<name>.+?) (?:nach|zu|zum|zur|auf|in)",
  "(?:hat|habe|haben) (?<name>.+?) durch .+ ersetzt",
  "(?:mudó|mudé|mudamos|mudaron|mudado|trasladó|trasladado|cambió|cambié|cambiado|pasó|pasé|pasado|migró|migrado) de (?<name>.+?) a",
  "(?:reemplazó|reemplacé|reemplazado|sustituyó|sustituí|sustituido|cambió|cambié|cambiado) (?<name>(?!de ).+?) por",
].map(
  (form) => new RegExp(String.raw`^(?<actor>.*?)(?<![\p{L}\p{M}])${form}(?![\p{L}\p{M}])`, "iu"),
);

/** What a sentence says was given up, whose words must all occur, and the words before it. */
type GivenUpInAll = { readonly actor: readonly string[]; readonly words: readonly string[] };

/** What the sentences of a text say was given up. */
function givenUpInAll(text: string): readonly GivenUpInAll[] {
  return text
    .split(/(?<=[.!?;])\s+|\n/)
    .filter(({ length }) => length <= SENTENCE_MAX_CHARS)
    .flatMap((sentence) =>
      FORMS.flatMap((form) => {
        const { actor = "", name = "" } = form.exec(sentence)?.groups ?? {};
        const words = analyse(name).filter((word) => !isEmptyWord(word));
        return words.length === 0 ? [] : [{ actor: actor.split(/\s+/), words }];
      }),
    );
}

/** A verb and its preposition further apart do not belong together. */
const SUBJECT_MAX_CHARS = 200;
/** Maximum terms of one text; more would be a list, not a change. */
const TERMS_MAX = 64;
/** Words before a verb that are read to find who gave something up. */
const ACTOR_MAX_WORDS = 20;
const SENTENCE_END = /[.!?;:]["')\]]*$/;

/**
 * Verbs that name what they end, each with the word that follows the name. The lookbehind is a word boundary that supports more letters
 * than `\b`.
 */
const SIGNALS: readonly { readonly verb: RegExp; readonly until: string }[] = [
  { verb: /(?<![\p{L}\p{N}_])(?:migrated?|switch(?:ed)?|moved?)$/iu, until: "to" },
  { verb: /(?<![\p{L}\p{N}_])replaced?$/iu, until: "with" },
];

/** What was given up. */
type GivenUp = {
  /** The words of the sentence before the verb, as written: the actor. */
  readonly actor: readonly string[];
  /** The name and its words, in lower case, without stop words. */
  readonly terms: readonly string[];
};

/**
 * What a text says was given up: `Ann switched from Red Hat to Debian` gives `red hat`, `red`, `hat`, given up by `Ann`. The name is the
 * shortest text between verb and preposition on one line; its words count too, except stop words. A text that ends something unnamed (`no
 * longer used`) yields nothing.
 */
export function givenUp(text: string): readonly GivenUp[] {
  const found: GivenUp[] = [];
  const known = new Set<string>();
  for (const line of text.split(/(?<=\n)/)) {
    // A trailing blank yields an empty last word, so that every other word is followed by a blank.
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
