import { isFunctionWord, languagesOfText } from "./language.ts";
import { analyse, stem } from "./lexical-analysis.ts";
import { isEmptyWord, isNumber, type Statement } from "./replacement.ts";
import { asksNumber, asksOfThen, smallNumber } from "./value-slots.ts";

/**
 * Whether two memories speak of the one thing that a question asks about, whatever words say it: `My manager is Petra`, `Omar took
 * over as manager`. The later one then answers the question of what is so now. Nothing is claimed about the earlier one.
 * `scripts/quality/truth.ts` measures the rule; docs/retrieval.md has its figures.
 */

/** Least share of the shorter statement's words that both have. */
const SHARED_MIN = 0.25;
/** How much that share adds to the cosine of the two texts, and the lowest sum. */
const SHARED_WEIGHT = 0.35;
const ALIKE_FROM = 0.7;
/** How much farther from the question the later one may be if it lacks one of the question's words. */
const FARTHER_MOST = 0.2;

/** What a question about now says; made once a question. */
export type AskedThing = {
  readonly stems: ReadonlySet<string>;
  readonly numbers: ReadonlySet<string>;
  readonly isOfNumber: boolean;
};

type Words = {
  readonly words: readonly string[];
  /** Of each word its stem, if it is telling. */
  readonly stems: readonly (string | undefined)[];
  readonly telling: ReadonlySet<string>;
  /** Written in digits or, up to twelve, in letters. */
  readonly numbers: ReadonlySet<string>;
};

const read = new WeakMap<Statement, Words>();

function wordsOf(statement: Statement): Words {
  const known = read.get(statement) ?? readWords(statement.text, statement.words);
  read.set(statement, known);
  return known;
}

function readWords(text: string, words: readonly string[]): Words {
  const languages = languagesOfText(text, words);
  const stems = words.map((word) => {
    const isEmpty = word.length === 1 || isEmptyWord(word) || isNumber(word);
    return isEmpty || languages.some((one) => isFunctionWord(one, word)) ? undefined : stem(word);
  });
  return {
    words,
    stems,
    telling: new Set(stems.filter((each) => each !== undefined)),
    numbers: new Set(words.flatMap((word) => (isNumber(word) ? word : (smallNumber(word) ?? [])))),
  };
}

/** Reads a question; undefined for one about what was, or about several moments. */
export function askedThing(question: string): AskedThing | undefined {
  if (asksOfThen(question)) return undefined;
  const words = analyse(question);
  const { telling } = readWords(question, words);
  return {
    stems: telling,
    numbers: new Set(words.filter(isNumber)),
    isOfNumber: asksNumber(question),
  };
}

/** Of two memories, what else than their words is known. Cosines on the scale of the default model. */
export type Nearness = {
  /** Of the two texts. */
  readonly alike: number;
  /** How much nearer to the question the earlier one is. */
  readonly farther: number;
};

/** Whether the words of two memories allow it; how near they must be is asked of the result. */
export function onSameThing(
  asked: AskedThing,
  newer: Statement,
  older: Statement,
): ((nearness: Nearness) => boolean) | undefined {
  const [ours, theirs] = [wordsOf(newer), wordsOf(older)];
  // A number of the question is a word like others: "release 4.2".
  const named = (words: Words) => words.telling.union(asked.numbers.intersection(words.numbers));
  const [said, before] = [named(ours), named(theirs)];
  const share = said.intersection(before).size / Math.max(1, Math.min(said.size, before.size));
  if (share < SHARED_MIN || asked.stems.union(asked.numbers).isDisjointFrom(said)) return undefined;
  if (saysTheSameNumbers(ours, theirs) || isOneMore(newer)) return undefined;
  if (asked.isOfNumber && theirs.numbers.size > 0 && ours.numbers.size === 0) return undefined;
  if (!asked.numbers.intersection(theirs.numbers).isSubsetOf(ours.numbers)) return undefined;
  const lost = asked.stems.intersection(theirs.telling).difference(ours.telling);
  if (isOfAnother(ours, theirs, lost, asked)) return undefined;
  return ({ alike, farther }) =>
    alike + SHARED_WEIGHT * share >= ALIKE_FROM && (lost.size === 0 || farther <= FARTHER_MOST);
}

/** What repeats a value changes nothing. */
function saysTheSameNumbers({ numbers }: Words, { numbers: others }: Words): boolean {
  return numbers.size > 0 && numbers.size === others.size && numbers.isSubsetOf(others);
}

const ONE_MORE = new Set(
  analyse("also too another auch ebenfalls außerdem también además aussi également"),
);

/** `We also use pnpm`: both are so. */
function isOneMore({ words }: Statement): boolean {
  return words.some((word) => ONE_MORE.has(word));
}

/**
 * Whether one word stands in both beside different ones, and the question names that of the earlier: `the garage code`, `the code
 * of the front door`.
 * @param lost words of the question that only the earlier one has
 */
function isOfAnother(
  ours: Words,
  theirs: Words,
  lost: ReadonlySet<string>,
  asked: AskedThing,
): boolean {
  if (lost.size === 0) return false;
  const heads = new Set(
    theirs.telling.values().filter((head) => besides(theirs, head).some((each) => lost.has(each))),
  );
  const isRival = (word: string) => !(theirs.telling.has(word) || asked.stems.has(word));
  return heads.values().some((head) => besides(ours, head).some(isRival));
}

const PREPOSITIONS = new Set(
  analyse(
    `of for from in at on to with von vom für im am auf an bei zum zur des der de del du en para con a au aux la pour avec chez dans`,
  ),
);

/** The telling words before a word, and behind it and a preposition: `garage code`, `Sam's code`, `code of the garage`. */
function besides({ words, stems }: Words, head: string): readonly string[] {
  return stems.flatMap((each, at) => {
    if (each !== head) return [];
    const before = words[at - 1] === "s" ? stems[at - 2] : stems[at - 1];
    const isJoined = PREPOSITIONS.has(words[at + 1] ?? "");
    const behind = isJoined ? (stems[at + 2] ?? stems[at + 3]) : undefined;
    return [before, behind].filter((word) => word !== undefined);
  });
}
