import { normalForm } from "../lib/text.ts";
import type { Uuid } from "../lib/uuid.ts";
import { analyse, questionTerms, stem } from "./lexical-analysis.ts";
import { type MemoryNode, wordingOf } from "./node.ts";
import {
  changesIn,
  isEmptyWord,
  isNumber,
  isOfChange,
  keptFor,
  PERSONS,
  readStatement,
  type Statement,
  saysChange,
  sharedPart,
} from "./replacement.ts";
import { storedSpeaker } from "./speaker.ts";

/**
 * Whether two memories say the same thing with a different value: `Ann lives in Leeds`, `Ann lives in Bath`; `Ann pays 450 euros of rent`,
 * `The rent of Ann was raised to 480 euros`. Often the later one is current, but both may be true: `I like tea`, `I like coffee`. So the
 * later one is ranked first if a question asks for neither, without a claim about the earlier one.
 */

/** The minimum share of the longer sentence that both have. */
const FRAME_SHARE = 0.5;
/** Minimum and maximum words of a sentence. */
const WORDS_MIN = 3;
const WORDS_MAX = 24;
/** Minimum content words shared by two statements that differ in one. */
const OTHER_WORDS_SHARED = 3;
/** Minimum content words shared by two statements of a measure. */
const MEASURE_SHARED = 2;

/** Whether the two say the same thing with a different value, whichever is newer. */
export function saysTheSame(newer: Statement, older: Statement): boolean {
  return (
    isSameFrame(newer.words, older.words) ||
    isSameInOtherWords(newer, older) ||
    isSameMeasure(newer, older)
  );
}

/**
 * Whether a question asks for something that only one of two memories says.
 * @param asked the words of the question, as the analyser gives them
 */
function asksFor(
  asked: ReadonlySet<string>,
  { words }: Statement,
  { words: others }: Statement,
): boolean {
  return words.some((word) => asked.has(word) && !isEmptyWord(word) && !others.includes(word));
}

/** For two texts about one thing: the weight of the share of common words next to the cosine, the minimum sum, and the minimum share. */
const SAME_WORDS = 0.3;
const SAME_FROM = 0.72;
const SAME_WORDS_FROM = 0.2;
/** Maximum factor by which the earlier one may have more words of the question. */
const ANSWERED = 3;
/** Number of words from which a question itself specifies its answer. */
const WHOLE_QUESTION = 3;

/** Words for reports, for possible futures, and for additional facts; in English, German, Spanish and French. */
const RESERVED = new Set(
  analyse(
    `says said thinks think claims reckons believes according meint sagt findet glaubt behauptet laut dice dicen cree opina segun piensa dit pense
    trouve selon apres might maybe perhaps thinking considering someday ideally vielleicht überlege überlegen würde würden irgendwann quizás
    gustaría algún podría pensando peut aimerais aimerait pourrait also additionally auch außerdem zusätzlich también además aussi également`,
  ),
);

/**
 * Whether the later of two statements may be ranked before the earlier one, judging by words alone. Not if it has less than a third of the
 * question's words that the earlier one has; if it only reports, plans, adds, or ends something else; or if both are alike and the question
 * asks for what only the earlier one says (`do I like tea?`). Without a word of change, also not if only the earlier one has all words of a
 * longer question, or both share only their subject and the question asks for more (`where does Ann live?`, `Ann is a nurse`).
 */
export function mayComeFirst(newer: Statement, older: Statement, asked: Statement): boolean {
  if (sharedPart(newer.stems, older.stems) < SAME_WORDS_FROM) return false;
  if (isReserved(newer) && !isReserved(older)) return false;
  if (!answersToo(newer, older, asked)) return false;
  if (saysTheSame(newer, older) && asksFor(new Set(asked.words), older, newer)) return false;
  return !(readEndings(newer).others.length === 0 && endsAnother(newer, older));
}

/** Whether the newer one may answer what the older one answers. */
function answersToo(newer: Statement, older: Statement, { stems: asked }: Statement): boolean {
  const [ours, theirs] = [
    asked.intersection(newer.stems).size,
    asked.intersection(older.stems).size,
  ];
  if (ANSWERED * ours < theirs) return false;
  if (newer.negates || newer.changes.size > 0) return true;
  if (theirs === asked.size && theirs >= WHOLE_QUESTION && ours < theirs) return false;
  const isAlone = newer.stems.intersection(older.stems).size === 1;
  const isOtherSide = isAlone && newer.subject === older.subject;
  return !isOtherSide || asked.isSubsetOf(new Set([older.subject]));
}

function isReserved({ words }: Statement): boolean {
  return words.some((word) => RESERVED.has(word));
}

/** Whether two statements are similar enough to be about one thing. @param cosine of their texts, on the scale of the default model */
export function isAboutTheSame(one: Statement, other: Statement, cosine: number): boolean {
  return cosine + SAME_WORDS * sharedPart(one.stems, other.stems) >= SAME_FROM;
}

/** Whether two sentences begin alike, share most words in the same order, and each has others. */
function isSameFrame(words: readonly string[], others: readonly string[]): boolean {
  const longest = Math.max(words.length, others.length);
  const shortest = Math.min(words.length, others.length);
  if (shortest < WORDS_MIN || longest > WORDS_MAX) return false;
  const first = words.find(isTelling);
  if (first === undefined || first !== others.find(isTelling)) return false;
  const common = commonInOrder(words, others);
  return common < shortest && common >= longest * FRAME_SHARE;
}

function isTelling(word: string): boolean {
  return !isEmptyWord(word) && !isNumber(word);
}

/** The number of words that two texts have in the same order. */
function commonInOrder(words: readonly string[], others: readonly string[]): number {
  const shortest = Math.min(words.length, others.length);
  let before = 0;
  while (before < shortest && words[before] === others[before]) before += 1;
  let behind = 0;
  while (behind < shortest - before && words.at(-1 - behind) === others.at(-1 - behind)) {
    behind += 1;
  }
  const middle = (all: readonly string[]) => all.slice(before, all.length - behind);
  return before + behind + longestInOrder(middle(words), middle(others));
}

/** The longest common subsequence of two texts of at most 32 words, a bit for each word of the other (Hyyrö 2004). */
function longestInOrder(words: readonly string[], others: readonly string[]): number {
  let row = -1;
  for (const word of words) {
    let matches = 0;
    for (let at = 0; at < others.length; at += 1) if (others[at] === word) matches |= 1 << at;
    const kept = row & matches;
    row = (row + kept) | (row - kept);
  }
  let length = 0;
  for (let at = 0; at < others.length; at += 1) length += (~row >>> at) & 1;
  return length;
}

/** Whether each has exactly one content word of its own, apart from the subject. */
function isSameInOtherWords(newer: Statement, older: Statement): boolean {
  const shared = newer.stems.size - 1;
  if (shared < OTHER_WORDS_SHARED || older.stems.size !== newer.stems.size) return false;
  const [ours, ...more] = newer.stems.difference(older.stems);
  if (ours === undefined || more.length > 0 || ours === newer.subject) return false;
  const [theirs] = older.stems.difference(newer.stems);
  return theirs !== older.subject;
}

/** Whether both state one amount of the same unit, and one adds nothing to the other. */
function isSameMeasure(newer: Statement, older: Statement): boolean {
  const [one, other] = [amountOf(newer.words), amountOf(older.words)];
  if (one === undefined || other === undefined) return false;
  if (one.unit !== other.unit || one.number === other.number) return false;
  const least = Math.min(newer.stems.size, older.stems.size);
  const shared = newer.stems.intersection(older.stems).size;
  // The unit is among them.
  return shared === least && shared > MEASURE_SHARED;
}

/** The only number of a text, with the word that follows it. */
function amountOf(
  words: readonly string[],
): { readonly number: string; readonly unit: string } | undefined {
  const at = words.findIndex(isNumber);
  const [number, unit] = [words[at], words[at + 1]];
  if (number === undefined || unit === undefined || isEmptyWord(unit)) return undefined;
  return words.findLastIndex(isNumber) === at ? { number, unit } : undefined;
}

/**
 * Which memories a new one may replace. The thresholds were tuned with `scripts/quality/near.ts`, with figures in docs/retrieval.md:
 * replaced memories are seldom less similar, and unrelated ones seldom this similar.
 */

/** The weight of the share of common words, added to the cosine of the two texts. */
const WORDS_SHARE = 0.2;
/** The minimum sum of cosine and words. */
const NEAR_FROM = 0.75;
/** The same if the new text reports a change: a needless mention costs three lines, a missed one leaves an outdated memory. */
const NEAR_OF_CHANGE_FROM = 0.68;

/**
 * The similarity of memories to a new one: a function of another memory and the cosine of their texts, undefined if the new one cannot
 * replace it.
 */
export function nearnessTo(
  fresh: MemoryNode,
): (known: MemoryNode, cosine: number) => number | undefined {
  const words = wordsOf(fresh);
  const shares = new Map<Uuid, number>();
  const statement = readStatement(fresh.content);
  return (known, cosine) => {
    if (cosine + WORDS_SHARE < NEAR_OF_CHANGE_FROM) return undefined;
    if (known.id === fresh.id || known.scope !== fresh.scope || isOfAnother(fresh, known)) {
      return undefined;
    }
    const shared = shares.get(known.id) ?? sharedPart(words, wordsOf(known));
    shares.set(known.id, shared);
    const near = cosine + WORDS_SHARE * shared;
    if (near >= NEAR_FROM) return near;
    return near >= NEAR_OF_CHANGE_FROM && isChangeOf(statement, known) ? near : undefined;
  };
}

function wordsOf(node: MemoryNode): ReadonlySet<string> {
  return new Set(questionTerms(wordingOf(node)).map(({ term }) => term));
}

function isChangeOf(newer: ReturnType<typeof readStatement>, known: MemoryNode): boolean {
  const older = readStatement(known.content);
  return newer !== undefined && older !== undefined && saysChange(newer, older);
}

/** Whether two texts are the same, apart from white space and composed characters. */
export function isSameText(one: string, other: string): boolean {
  const words = (text: string) => normalForm("NFC", text).trim().replace(/\s+/g, " ");
  return one === other || words(one) === words(other);
}

/** Whether the known memory was said by another speaker, or joins turns that are also stored. */
function isOfAnother(fresh: MemoryNode, known: MemoryNode): boolean {
  if (known.metadata?.["qa_pair"] === true) return true;
  const [speaker, other] = [storedSpeaker(fresh.metadata), storedSpeaker(known.metadata)];
  if (speaker !== undefined && other !== undefined && speaker !== other) return true;
  // A question in a conversation is similar to its answer.
  const isConversation = fresh.sessionId !== undefined && fresh.sessionId === known.sessionId;
  return isConversation && fresh.sourceType !== known.sourceType;
}

/**
 * Whether what a statement denies or ends differs from what an older one states: `Carla is allergic to nuts`, `Carla is no longer allergic
 * to dust`. Then both are true. Read clause by clause, from words alone.
 */

/** A negated clause, in words: around the negation. */
type Ending = {
  readonly before: readonly string[];
  readonly after: readonly string[];
};

/** Signs of negation. The first in a clause counts, the longest if several match. */
const MARKS = byFirst(
  phrases(
    `not|never|cannot|can t|don t|doesn t|didn t|isn t|aren t|wasn t|weren t|won t|haven t|hasn t|couldn t|shouldn t|wouldn t|no longer|stopped|quit|gave up|given up|
    cancelled|canceled|called off|dropped|discontinued|abandoned|scrapped|sold|got rid of|gave away|given away|nicht|nicht mehr|nicht langer|nie|niemals|kein|keine|keinen|keinem|
    keiner|gekundigt|aufgehort|abgegeben|abgesagt|storniert|abbestellt|verkauft|aufgegeben|no|nunca|ya no|dejo|dejado|deje|dejo de|dejado de|deje de|cancelo|cancelamos|cancelado|cancele|vendio|vendi|vendimos|vendido|abandono|abandonado`,
  ).toSorted((one, other) => other.length - one.length),
);
/** Separators between what is true and what has ended. */
const INSTEAD = byFirst(
  phrases(
    `instead of|rather than|in place of|switched from|moved from|migrated from|changed from|statt|anstatt|anstelle von|en vez de|en lugar de`,
  ),
);
const SIGN = /[,;:.!?\n](?=\s|$)|[()\u2013\u2014]| - /u;
/** Words between clauses without punctuation. */
const JOINTS = new Set(
  analyse("but and or because so sondern und oder aber weil denn sino y pero porque"),
);
/** Words before a time, which does not name what ended. */
const TIMED = new Set(
  analyse(
    "since until last yesterday today seit ab bis gestern heute letzte letzten letztes desde hasta ayer hoy",
  ),
);
/** Verbs that carry no meaning alone; the English ones are stop words. */
const MODALS = new Set(analyse("kann konnen will darf soll muss puede pueden puedo quiere quiero"));
/** How German verbs end. */
const GERMAN_VERB = /(?:t|en?)$/;

function phrases(list: string): readonly (readonly string[])[] {
  return list.split("|").map(analyse);
}

/**
 * Whether the newer statement only says that something ended or is not so, which the older one does not state. False if another of its
 * clauses reports a change.
 */
export function endsAnother(newer: Statement, older: Statement): boolean {
  const { endings, others } = readEndings(newer);
  if (endings.length === 0) return false;
  // A clause about something else does not change it: "she no longer drives, she gave up her licence".
  const isChanged = others.some(
    ({ stems, changes }) =>
      stems.some((word) => older.stems.has(word)) && !changes.isSubsetOf(older.changes),
  );
  if (isChanged) return false;
  return isOfRelative(newer, older) || !endings.some((ending) => isStatedIn(ending, newer, older));
}

/** The negated clause of a statement, and its other clauses. */
type Endings = {
  readonly endings: readonly Ending[];
  readonly others: readonly {
    readonly stems: readonly string[];
    readonly changes: ReadonlySet<string>;
  }[];
};

const readEndings = keptFor(({ text }: Statement): Endings => {
  const clauses = text
    .split(SIGN)
    .flatMap(clausesOf)
    .filter((words) => words.length > 0);
  const endings = clauses.map(endingOf);
  return {
    endings: endings.filter((ending) => ending !== undefined),
    others: clauses
      .filter((_, at) => endings[at] === undefined)
      .map((words) => ({ stems: words.map(stem), changes: changesIn(words) })),
  };
});

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

/** Phrases by their first word, in the order in which they are tried. */
type Phrases = ReadonlyMap<string | undefined, readonly (readonly string[])[]>;

function byFirst(list: readonly (readonly string[])[]): Phrases {
  return Map.groupBy(list, ([first]) => first);
}

function firstOf(words: readonly string[], phrases: Phrases) {
  for (const [at, word] of words.entries()) {
    const found = phrases
      .get(word)
      ?.find((phrase) => phrase.every((part, index) => words[at + index] === part));
    if (found !== undefined) return { at, end: at + found.length };
  }
  return undefined;
}

/**
 * Whether the older statement states what ended, considering only what differs from the newer one. The verb may differ if the rest matches.
 * Words for people are compared whole: `abuela` is not `abuelo`.
 */
function isStatedIn({ before, after }: Ending, newer: Statement, older: Statement): boolean {
  const states = (word: string) =>
    PERSONS.has(word) ? older.words.includes(word) : older.stems.has(stem(word));
  const object = tellingOf(after);
  const missing = [...tellingOf(before), ...object].filter((word) => !states(word));
  if (missing.length === 0) return true;
  // A word of change that only the older one has is meaningful: "the left knee", "the new office".
  const saysNoMore = older.stems.isSubsetOf(newer.stems) && older.changes.isSubsetOf(newer.changes);
  if (saysNoMore && !missing.some((word) => PERSONS.has(word))) return true;
  const verb = verbOf(before, after);
  if (verb === undefined || !missing.every((word) => word === verb)) return false;
  const others = object.filter((word) => word !== verb);
  return others.length > 0 && others.every(states);
}

/** The word next to a mark, if it looks like a verb: after it in English and Spanish, before it in German. */
function verbOf(before: readonly string[], after: readonly string[]): string | undefined {
  const [next] = after;
  if (next !== undefined && isTellingEnd(next)) return next;
  const last = before.at(-1);
  return last !== undefined && isTellingEnd(last) && GERMAN_VERB.test(last) ? last : undefined;
}

/** The content words of a clause, up to a time. */
function tellingOf(words: readonly string[]): readonly string[] {
  const time = words.findIndex((word) => TIMED.has(word));
  // A clause that begins with a time continues after it: "Seit Mai wohnt Ana nicht mehr in Bern".
  const timeless = time === 0 ? words.slice(3) : words.slice(0, time === -1 ? undefined : time);
  return timeless.filter(isTellingEnd);
}

function isTellingEnd(word: string): boolean {
  return !(isEmptyWord(word) || isNumber(word) || isOfChange(word) || MODALS.has(word));
}

/** `Ann's wife`, `Anns Frau`; `the wife of Ann`. */
const RELATIVE =
  /(?<![\p{L}\p{M}])(\p{Lu}[\p{L}\p{M}]*?)(?:['\u2019]s|s) ([\p{L}\p{M}]+)|([\p{L}\p{M}]+) (?:of|von|de) (\p{Lu}[\p{L}\p{M}]*)/gu;

/** The relatives of persons in a text, with the person's name. */
const relativesIn = keptFor(({ text }: Statement) =>
  [...text.matchAll(RELATIVE)].flatMap(([, owner, owned, relative, whose]) => {
    const [who = ""] = analyse(owner ?? whose ?? "");
    const [relation = ""] = analyse(owned ?? relative ?? "");
    return PERSONS.has(relation) ? [{ who, relation }] : [];
  }),
);

/** Whether the older one is about a relative of a person named in the newer one. */
function isOfRelative({ words }: Statement, older: Statement): boolean {
  return relativesIn(older).some(
    ({ who, relation }) => words.includes(who) && !words.includes(relation),
  );
}
