import { analyse, questionTerms, stem } from "./lexical-analysis.ts";
import { changesIn, isEmptyWord, isNumber } from "./replacement.ts";

/**
 * People restate a number, a date or an amount without a word like "no longer": `150 commits` in April, `165` in June. If a question asks
 * for a current value, the best hit that states one defines the slot: the kind of value and the words around it. A later hit of the same
 * speaker with another value for that slot is ranked before it, without a claim about the earlier one. docs/retrieval.md has the figures.
 */

type Kind = "count" | "money" | "percent" | "duration" | "moment";

/** The value that a question asks for. */
export type AskedValue = {
  readonly kinds: ReadonlySet<Kind>;
  /** Stems of what is counted, measured or dated: for `how many project cards`, those of `project cards`. */
  readonly subject: ReadonlySet<string>;
  /** Stems of all content words. */
  readonly stems: ReadonlySet<string>;
};

/** A hit that may state the value. */
export type Stating = {
  readonly text: string;
  /** The speaker: values of different speakers fill different slots. */
  readonly by: string;
};

type Value = {
  readonly kind: Kind;
  readonly text: string;
  readonly unit: string;
  readonly from: number;
  readonly to: number;
};
type Slot = {
  readonly value: Value;
  /** Share of the question's words, by rarity, that are near the value, 0 to 1. */
  readonly cover: number;
  /** Number of words of the subject near the value. */
  readonly subject: number;
  /** Whether a word of change is next to it. */
  readonly changes: boolean;
};

/** UTF-16 units of a text that are read, and around a value. */
const READ = 2400;
const BEFORE = 90;
const BEHIND = 120;
/** Minimum share of the question's words around a value that fills the slot alone; and share of the best hit's. */
const COVER_MIN = 0.3;
const COVER_OF_BEST = 0.8;
/** The same if a word of change is next to the value. */
const CHANGED_MIN = 0.1;
const CHANGED_OF_BEST = 0.33;
/** The hit that defines the slot has at least this share of the largest cover. */
const NAMES_SLOT = 0.5;
const NAMES_SLOT_MIN = 0.2;
/** Maximum ratio between two values of a slot. */
const RATIO_MAX = 20;

const word = (words: string) => `(?<![\\p{L}\\p{N}])(?:${words})(?![\\p{L}\\p{N}])`;
const words = (...lists: readonly string[]) => new RegExp(word(lists.join("|")), "iu");
const UNITS_OF_TIME =
  `ms|milliseconds?|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|sekunden?|minuten?|
stunden?|tage?n?|wochen?|monate?n?|jahre?n?|segundos?|minutos?|horas?|días?|semanas?|mes(?:es)?|años?|secondes?|heures?|jours?|
semaines?|mois|ans?`.replaceAll("\n", "");

/** How questions ask for a value, in English, German, Spanish and French. */
const ASKS: readonly (readonly [RegExp, readonly Kind[]])[] = [
  [
    words(
      `(?:how many|wie ?viele|cuánt[oa]s|combien de) (?:total )?(?:${UNITS_OF_TIME})`,
      "how long|how old|wie lange|wie alt|cuánto tiempo|combien de temps",
    ),
    ["duration", "count"],
  ],
  [words("how many|wie ?viele|cuánt[oa]s|combien de"), ["count"]],
  [
    words("how much|how high|wie ?viel(?! uhr)|wie hoch|cuánt[oa]|combien"),
    ["money", "count", "percent"],
  ],
  [
    words(
      "when|what time|which day|what day|deadline|scheduled",
      "wann|wie ?viel uhr|welchem tag|termin|frist|cuándo|qué hora|qué día|quand|quelle heure|quel jour",
    ),
    ["moment"],
  ],
  [
    words(
      "what is|what's|what are|was ist|was sind|wie ist|wie lautet|welche[rsnm]?",
      "cuál es|cuáles son|qué es|quel(?:le)?s? (?:est|sont)",
    ),
    ["count", "money", "percent", "duration"],
  ],
];

/** Such a question is about several values, or about the past. */
const NOT_NOW = words(
  "between|across|combined|in total|altogether|different|differ|compared?|original(?:ly)?|initial(?:ly)?|previous(?:ly)?",
  "order|sequence|did|used to|was(?! (?:ist|sind|kostet))|were|had",
  "zwischen|insgesamt|zusammen|verschiedene|ursprünglich|anfangs|zuerst|vorher|früher|war|waren|hatten?|wurden?",
  "entre|en total|juntos|diferentes|original|originalmente|antes|era|eran|fue|fueron|tenía|había",
  "au total|ensemble|différents|initialement|avant|était|étaient|avait",
);

/** Whether a question is about the past, or about several values or moments. */
export function asksOfThen(question: string): boolean {
  return NOT_NOW.test(question);
}

/** Where the name of the requested value begins, and a word that ends it. */
const SUBJECT =
  /(?:how many|how much|what(?:'s| is| are)|when (?:is|are|does)|what(?! (?:time|day))|which|wie ?viele?|was ist|wie (?:ist|hoch ist|lautet)|wann (?:ist|beginnt)|welche[rsnm]?|cuánt[oa]s?|cuál es|cuándo es|combien de|quel(?:le)? est|quand est) (?:(?:my|the|our|his|her|their|meine?|unsere?|der|die|das|ihre?|seine?|mi|nuestr[oa]|el|la|los|las|su|mon|ma|mes|notre|le|les|son|sa) )?(?:(?:total|current|latest|new|aktuelle?|neue?|actual|nuev[oa]) )?(.*)/iu;
const SUBJECT_END = words(
  "have|has|do|does|are|is|am|can|could|will|would|should|in|on|of|at|for|from|to|my|the|per|an?|i|we|he|she|they|you|with|that|as",
  "scheduled|used|hat|haben|habe|sind|ist|kann|von|für|im|auf|mit|pro|tengo|tiene|hay|de|del|en|para|por|con",
  "ai|avons|a|du|des|dans|pour|par|avec",
);

/** Words of a question that no answer repeats. */
const ASKING = new Set(
  analyse(
    "many much total during including currently viele viel hoch insgesamt cuantos cuantas cuanto cuanta combien",
  ),
);

/** Reads a question; undefined unless it asks for a single current value. */
export function askedValue(question: string): AskedValue | undefined {
  if (NOT_NOW.test(question)) return undefined;
  const kinds = ASKS.find(([asks]) => asks.test(question))?.[1];
  if (kinds === undefined) return undefined;
  const stems = questionTerms(question).flatMap(({ term }) =>
    isEmptyWord(term) || ASKING.has(term) ? [] : [stem(term)],
  );
  const named = SUBJECT.exec(question)?.[1] ?? "";
  const end = named.search(SUBJECT_END);
  const subject = stemsOf(end === -1 ? named : named.slice(0, end));
  return { kinds: new Set(kinds), subject, stems: new Set(stems) };
}

function stemsOf(text: string): ReadonlySet<string> {
  return new Set(
    analyse(text).flatMap((each) => (isEmptyWord(each) || isNumber(each) ? [] : [stem(each)])),
  );
}

/**
 * The hit that states the current value, and the best one that states an earlier value; undefined if no two hits do.
 * @param hits best first
 * @param isLater whether the first was said after the second
 */
export function currentValue<Hit extends Stating>(
  asked: AskedValue,
  hits: readonly Hit[],
  isLater: (one: Hit, other: Hit) => boolean,
): { readonly current: Hit; readonly earlier: Hit } | undefined {
  const texts = hits.map(({ text }) => prose(text));
  const weights = rarities(asked, texts);
  const filled = hits.flatMap((hit, index) => {
    const slot = slotIn(texts[index] ?? "", asked, weights);
    return slot === undefined ? [] : [{ hit, slot }];
  });
  const most = Math.max(...filled.map(({ slot }) => slot.cover));
  const best = filled.find(({ slot }) => slot.cover >= Math.max(NAMES_SLOT_MIN, NAMES_SLOT * most));
  if (best === undefined) return undefined;
  const later = filled.filter(
    ({ hit, slot }) =>
      hit.by === best.hit.by &&
      isLater(hit, best.hit) &&
      fills(slot, best.slot, asked.subject.size > 0 || slot.value.kind === "moment"),
  );
  const [first, ...more] = later;
  if (first === undefined) return undefined;
  const newest = more.reduce((one, other) => (isLater(other.hit, one.hit) ? other : one), first);
  // The best of those that state that value.
  const current = later.find(({ slot }) => isSame(slot.value, newest.slot.value)) ?? newest;
  return { current: current.hit, earlier: best.hit };
}

/** Whether a later hit fills the best one's slot with another value. */
function fills(later: Slot, best: Slot, hasSubject: boolean): boolean {
  if (later.subject < best.subject || !isOfOneSize(later.value, best.value)) return false;
  if (isSame(later.value, best.value)) return false;
  const least =
    later.changes && hasSubject
      ? Math.max(CHANGED_MIN, CHANGED_OF_BEST * best.cover)
      : Math.max(COVER_MIN, COVER_OF_BEST * best.cover);
  return later.cover >= least;
}

function isSame(one: Value, other: Value): boolean {
  if (one.kind !== "moment") return one.text === other.text;
  return one.text.startsWith(other.text) || other.text.startsWith(one.text);
}

function isOfOneSize(one: Value, other: Value): boolean {
  if (one.kind !== other.kind || one.unit !== other.unit) return false;
  if (one.kind === "moment") return true;
  const [a, b] = [Number.parseFloat(one.text), Number.parseFloat(other.text)];
  return Number.isNaN(a) || Number.isNaN(b) || (a <= RATIO_MAX * b && b <= RATIO_MAX * a);
}

/** The value of the requested kind with most of the question's words around it. */
function slotIn(
  text: string,
  { kinds, subject }: AskedValue,
  weights: ReadonlyMap<string, number>,
): Slot | undefined {
  let best: Slot | undefined;
  for (const value of valuesIn(text)) {
    if (!kinds.has(value.kind)) continue;
    const slot = slotAround(text, value, subject, weights);
    const isNamed = value.kind !== "count" || subject.size === 0 || slot.subject > 0;
    if (isNamed && (best === undefined || slot.cover > best.cover)) best = slot;
  }
  return best;
}

function slotAround(
  text: string,
  value: Value,
  subject: ReadonlySet<string>,
  weights: ReadonlyMap<string, number>,
): Slot {
  const { from, to } = value;
  const before = afterLast(text.slice(Math.max(0, from - BEFORE), from), SENTENCE);
  const behind = text.slice(to, to + BEHIND).split(SENTENCE)[0] ?? "";
  const around = stemsOf(`${before} ${text.slice(from, to)} ${behind}`);
  const clause = analyse(`${afterLast(before, CLAUSE)} ${behind.split(CLAUSE)[0] ?? ""}`);
  return {
    value,
    cover: around.values().reduce((sum, each) => sum + (weights.get(each) ?? 0), 0),
    subject: subject.intersection(around).size,
    changes: clause.some((each) => CHANGED.has(each)) || changesIn(clause).size > 0,
  };
}

const SENTENCE = /[.?!](?=\s|$)|\n/u;
const CLAUSE = /[,;:]| but | so | and | aber | und | pero | y | mais | et /u;

function afterLast(text: string, end: RegExp): string {
  return text.split(end).at(-1) ?? "";
}

/** Words next to a value that mark it as new, besides those of `replacement.ts`. */
const CHANGED = new Set(
  analyse(
    `reached improved grew grown rose risen fell latest recently adjusted moving pushed total current currently already boosted
    erreicht verbessert gewachsen aktuell kürzlich schon bereits alcanzó alcanzado aumentó mejoró ya atteint augmenté nouveau
    nouvelle maintenant passé déjà`,
  ),
);

/** Each stem's share of the question, by its rarity among the hits; they add up to 1. */
function rarities(
  { stems, subject }: AskedValue,
  texts: readonly string[],
): ReadonlyMap<string, number> {
  const having = texts.map(stemsOf);
  const values = [...stems].map((each) => {
    const count = having.filter((stemmed) => stemmed.has(each)).length;
    return [each, Math.log(1 + texts.length / (1 + count)) * (subject.has(each) ? 2 : 1)] as const;
  });
  const whole = values.reduce((sum, [, value]) => sum + value, 0) || 1;
  return new Map(values.map(([each, value]) => [each, value / whole]));
}

/** The text without code, in lower case. */
function prose(text: string): string {
  return text
    .slice(0, 2 * READ)
    .replace(/```[\s\S]*?(?:```|$)/g, " . ")
    .slice(0, READ)
    .toLowerCase();
}

const MONTH =
  `jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|
sep(?:t(?:ember)?)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|
octubre|noviembre|diciembre|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre`.replaceAll(
    "\n",
    "",
  );
const NUMBER = "\\d{1,3}(?:[,.]\\d{3})+(?!\\d)|\\d+(?:[.,]\\d+)?";
const SMALL = [
  "two three four five six seven eight nine ten eleven twelve",
  "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
  "dos tres cuatro cinco seis siete ocho nueve diez once doce",
  "deux trois quatre cinq six sept huit neuf dix onze douze",
].flatMap((list) => list.split(" ").map((each, index) => [each, String(index + 2)] as const));
const SMALL_NUMBERS = new Map(SMALL);
const COUNTED = `${NUMBER}|${[...SMALL_NUMBERS.keys()].join("|")}`;
const ALONE = "(?<![\\p{L}\\p{N}.,$€£#/=-])";
const CLOCK =
  "\\d{1,2}(?::\\d{2})? ?(?:[ap]\\.?m(?!\\p{L})|uhr(?!\\p{L})|h(?!\\p{L}))|\\d{1,2}:\\d{2}";
const DAY = `(?:${MONTH})\\.? \\d{1,2}(?:st|nd|rd|th)?(?![\\d:])(?:,? \\d{4})?|\\d{1,2}(?:st|nd|rd|th|\\.)? (?:of |de )?(?:${MONTH})(?!\\p{L})(?:,? (?:de )?\\d{4})?|\\d{4}-\\d{2}-\\d{2}`;

/** Patterns of values; at each position the first match counts. */
const VALUES: readonly (readonly [Kind, RegExp])[] = [
  [
    "moment",
    new RegExp(
      `(?<![\\p{L}\\p{N}])(?:${DAY})(?:,? (?:at|um|a las|à) (?:${CLOCK}))?|(?<![\\p{L}\\p{N}:.])(?:${CLOCK})(?![\\d:])`,
      "gu",
    ),
  ],
  [
    "percent",
    new RegExp(`${ALONE}(?<number>${NUMBER}) ?(?:%|(?:percent|prozent)(?!\\p{L}))`, "gu"),
  ],
  ["money", new RegExp(`[$€£] ?(?<number>${NUMBER})k?`, "gu")],
  [
    "money",
    new RegExp(
      `${ALONE}(?<number>${NUMBER}) ?(?:€|(?:dollars?|euros?|usd|eur|pounds?)(?!\\p{L}))`,
      "gu",
    ),
  ],
  [
    "duration",
    new RegExp(`${ALONE}(?<number>${COUNTED}|one)[ -]?(?<unit>${UNITS_OF_TIME})(?!\\p{L})`, "gu"),
  ],
  ["count", new RegExp(`${ALONE}(?<number>${COUNTED})(?![\\p{N}\\p{L}%:/=]|[.,]\\d|-\\d)`, "gu")],
];

/** `from 70% to 90%`: the former value is not current. */
const FROM = /(?:from|von|del?) [$€£]?$/u;
const TO = /^ ?(?:to|auf|a|à|→) ?[$€£]?\d/u;

function valuesIn(text: string): readonly Value[] {
  const taken = new Uint8Array(text.length);
  return VALUES.flatMap(([kind, pattern]) =>
    [...text.matchAll(pattern)].flatMap((match): readonly Value[] => {
      const [from, to] = [match.index, match.index + match[0].length];
      if (taken.subarray(from, to).includes(1)) return [];
      taken.fill(1, from, to);
      const isPast = FROM.test(text.slice(Math.max(0, from - 8), from));
      if (isPast && TO.test(text.slice(to, to + 8))) return [];
      const { number, unit = "" } = match.groups ?? {};
      const stated = number === undefined ? moment(match[0]) : plain(number);
      return [{ kind, text: stated, unit: unit.slice(0, 3), from, to }];
    }),
  );
}

function moment(text: string): string {
  return text.replace(/[\s,.]+|(?:at|um|a las|à) /gu, "");
}

/** Digits without thousands separators. */
function plain(number: string): string {
  return SMALL_NUMBERS.get(number) ?? number.replace(/[,.](?=\d{3}(?!\d))/g, "").replace(",", ".");
}
