import { analyse, stem } from "./lexical-analysis.ts";
import { PERSONS } from "./persons.ts";
import { changesIn, isEmptyWord, isNumber, isOfChange, type Statement } from "./replacement.ts";

/**
 * Whether what a statement says is not so, or no longer, is something else than what an older one states: `Carla is allergic to
 * nuts`, `Carla is no longer allergic to dust`. Then both are true. Read clause by clause, from words alone.
 */

/** A clause that says what is not so, in words: around what says so. */
type Ending = {
  readonly before: readonly string[];
  readonly after: readonly string[];
};

/** What says that something is not so. The first of a clause counts, and of these the longest. */
const MARKS = [
  ...phrases(
    `not|never|cannot|can t|don t|doesn t|didn t|isn t|aren t|wasn t|weren t|won t|haven t|hasn t|couldn t|shouldn t|wouldn t|no longer|stopped|quit|gave up|given up|nicht|nicht mehr|nicht langer|nie|niemals|kein|keine|keinen|keinem|
    keiner|no|nunca|ya no|dejo de|dejado de|deje de`,
  ),
].sort((one, other) => other.length - one.length);
/** What stands between something that is so and something that no longer is. */
const INSTEAD = phrases(
  `instead of|rather than|in place of|switched from|moved from|migrated from|changed from|statt|anstatt|anstelle von|en vez de|en lugar de`,
);
const SIGN = /[,;:.!?\n](?=\s|$)|[()\u2013\u2014]| - /u;
/** Words between clauses where no sign is. */
const JOINTS = new Set(
  analyse("but and or because so sondern und oder aber weil denn sino y pero porque"),
);
/** Words before a time, which does not say what ended. */
const TIMED = new Set(analyse("since until seit ab bis desde hasta"));
/** Verbs that say nothing without another one; the English ones are empty words. */
const MODALS = new Set(analyse("kann konnen will darf soll muss puede pueden puedo quiere quiero"));
/** How German verbs end. */
const GERMAN_VERB = /(?:t|en?)$/;

function phrases(list: string): readonly (readonly string[])[] {
  return list.split("|").map(analyse);
}

/**
 * Whether the newer statement only says that something ended, or is not so, which the older one does not state. False if another
 * clause of it says that something changed.
 */
export function endsAnother(newer: Statement, older: Statement): boolean {
  const { endings, changes } = readEndings(newer);
  if (endings.length === 0) return false;
  if (!changes.isSubsetOf(older.changes)) return false;
  return isOfRelative(newer, older) || !endings.some((ending) => isStatedIn(ending, newer, older));
}

/** What a statement says is not so, and the words of change of its other clauses. */
type Endings = { readonly endings: readonly Ending[]; readonly changes: ReadonlySet<string> };

/** A statement is compared with each of the best candidates, and read once. */
const read = new WeakMap<Statement, Endings>();

function readEndings(statement: Statement): Endings {
  const known = read.get(statement);
  if (known !== undefined) return known;
  const clauses = statement.text.split(SIGN).flatMap(clausesOf);
  const endings = clauses.map(endingOf);
  const made = {
    endings: endings.filter((ending) => ending !== undefined),
    changes: changesIn(clauses.filter((_, at) => endings[at] === undefined).flat()),
  };
  read.set(statement, made);
  return made;
}

function clausesOf(part: string): readonly (readonly string[])[] {
  const clauses: string[][] = [[]];
  for (const word of analyse(part)) {
    if (JOINTS.has(word)) clauses.push([]);
    else clauses.at(-1)?.push(word);
  }
  return clauses;
}

function endingOf(words: readonly string[]): Ending | undefined {
  const instead = firstOf(words, INSTEAD);
  if (instead !== undefined) return { before: [], after: words.slice(instead.end) };
  const mark = firstOf(words, MARKS);
  if (mark === undefined) return undefined;
  return { before: words.slice(0, mark.at), after: words.slice(mark.end) };
}

function firstOf(words: readonly string[], list: readonly (readonly string[])[]) {
  for (let at = 0; at < words.length; at += 1) {
    const found = list.find((phrase) => phrase.every((part, index) => words[at + index] === part));
    if (found !== undefined) return { at, end: at + found.length };
  }
  return undefined;
}

/**
 * Whether the older statement states what ended, as far as it says anything else than the newer one at all. It may have another
 * verb if it states the rest. Words for people are compared whole: `abuela` is not `abuelo`.
 */
function isStatedIn({ before, after }: Ending, newer: Statement, older: Statement): boolean {
  const states = (word: string) =>
    PERSONS.has(word) ? older.words.includes(word) : older.stems.has(stem(word));
  const object = tellingOf(after);
  const missing = [...tellingOf(before), ...object].filter((word) => !states(word));
  if (missing.length === 0) return true;
  if (older.stems.isSubsetOf(newer.stems) && !missing.some((word) => PERSONS.has(word)))
    return true;
  const verb = verbOf(before, after);
  if (verb === undefined || !missing.every((word) => word === verb)) return false;
  const others = object.filter((word) => word !== verb);
  return others.length > 0 && others.every(states);
}

/** The word beside a mark, if it is written like a verb: behind it in English and Spanish, before it in German. */
function verbOf(before: readonly string[], after: readonly string[]): string | undefined {
  const [next] = after;
  if (next !== undefined && isTelling(next)) return next;
  const last = before.at(-1);
  return last !== undefined && isTelling(last) && GERMAN_VERB.test(last) ? last : undefined;
}

/** The words that say what a clause is about, up to a time. */
function tellingOf(words: readonly string[]): readonly string[] {
  const time = words.findIndex((word) => TIMED.has(word));
  // What begins with a time goes on behind it: "Seit Mai wohnt Ana nicht mehr in Bern".
  const timeless = time === 0 ? words.slice(3) : words.slice(0, time === -1 ? undefined : time);
  return timeless.filter(isTelling);
}

function isTelling(word: string): boolean {
  return !(isEmptyWord(word) || isNumber(word) || isOfChange(word) || MODALS.has(word));
}

/** `Ann's wife`, `Anns Frau`; `the wife of Ann`. */
const RELATIVE =
  /(?<![\p{L}\p{M}])(\p{Lu}[\p{L}\p{M}]*?)(?:['\u2019]s|s) ([\p{L}\p{M}]+)|([\p{L}\p{M}]+) (?:of|von|de) (\p{Lu}[\p{L}\p{M}]*)/gu;

/** Whether the older one is about a relative of somebody who is named in the newer one. */
function isOfRelative(newer: Statement, older: Statement): boolean {
  return [...older.text.matchAll(RELATIVE)].some(([, owner, owned, relative, whose]) => {
    const [who = ""] = analyse(owner ?? whose ?? "");
    const [relation = ""] = analyse(owned ?? relative ?? "");
    return PERSONS.has(relation) && newer.words.includes(who) && !newer.words.includes(relation);
  });
}
