import { type Moment, shift, type Unit } from "./calendar.ts";
import { moment, one, type Rule, readRules, rule } from "./english-rule.ts";
import { dayAt, type Expression } from "./expressions.ts";

/*
 * What the parser's languages lack: words for days, units that lie a number of units away, months without a day. The parser reads
 * the rest.
 */

type Units = Readonly<Partial<Record<Unit, string>>>;
type Words = {
  /** Days from today. */
  readonly days?: Readonly<Record<string, number>>;
  readonly units?: Units;
  /** Patterns around a number N and a unit U: in the past, */
  readonly ago?: readonly string[];
  /** around the unit before this one, */
  readonly last?: readonly string[];
  /** and around the one after it. */
  readonly next?: readonly string[];
  readonly numbers?: Readonly<Record<string, number>>;
  /** Words stand without blanks. */
  readonly unspaced?: boolean;
  /** What may stand before a month, without a day; then the months. */
  readonly months?: readonly [before: string, ...months: readonly string[]];
};

const LANGUAGES: Readonly<Record<string, Words>> = {
  de: {
    days: { überübermorgen: 3 },
    months: [
      "(?:im|seit|ab|bis)",
      ...["januar|jänner", "februar|feber", "märz", "april", "mai", "juni", "juli", "august"],
      ...["september", "oktober", "november", "dezember"],
    ],
  },
  fr: {
    days: { "avant-hier": -2, "après-demain": 2 },
    units: { day: "jours?", week: "semaines?", month: "mois", year: "ans?|années?" },
    ago: [String.raw`il\s+y\s+a\s+N\s+U`],
    numbers: {
      un: 1,
      une: 1,
      deux: 2,
      trois: 3,
      quatre: 4,
      cinq: 5,
      six: 6,
      sept: 7,
      huit: 8,
      dix: 10,
    },
    months: [
      "(?:en|depuis)",
      ...["janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août"],
      ...["septembre", "octobre", "novembre", "décembre"],
    ],
  },
  es: {
    days: { anteayer: -2, "antes de ayer": -2, antier: -2, anoche: -1, "pasado mañana": 2 },
    units: { day: "días?|dias?", week: "semanas?", month: "mes(?:es)?", year: "años?" },
    ago: [String.raw`hace\s+N\s+U`],
    last: [String.raw`(?:el|la)\s+U\s+pasad[oa]`, String.raw`(?:el|la)\s+[úu]ltim[oa]\s+U`],
    next: [String.raw`(?:el|la)\s+pr[óo]xim[oa]\s+U`, String.raw`(?:el|la)\s+U\s+que\s+viene`],
    numbers: {
      un: 1,
      una: 1,
      dos: 2,
      tres: 3,
      cuatro: 4,
      cinco: 5,
      seis: 6,
      siete: 7,
      ocho: 8,
      diez: 10,
    },
  },
  it: { days: { "l'altro ieri": -2, "avant'ieri": -2, dopodomani: 2 } },
  pt: {
    days: { anteontem: -2, "depois de amanhã": 2 },
    units: { day: "dias?", week: "semanas?", month: "m[êe]s(?:es)?", year: "anos?" },
    ago: [String.raw`h[áa]\s+N\s+U`, String.raw`N\s+U\s+atrás`],
    last: [String.raw`n?[oa]\s+U\s+passad[oa]`, String.raw`n?[oa]\s+últim[oa]\s+U`],
    next: [String.raw`n?[oa]\s+próxim[oa]\s+U`, String.raw`n?[oa]\s+U\s+que\s+vem`],
    numbers: {
      um: 1,
      uma: 1,
      dois: 2,
      duas: 2,
      três: 3,
      quatro: 4,
      cinco: 5,
      seis: 6,
      sete: 7,
      oito: 8,
      dez: 10,
    },
    months: [
      "(?:em|desde)",
      ...["janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto"],
      ...["setembro", "outubro", "novembro", "dezembro"],
    ],
  },
  nl: { days: { eergisteren: -2, gisteravond: -1, overmorgen: 2 } },
  ja: {
    days: { 一昨日: -2, おととい: -2, 明後日: 2 },
    units: { day: "日", week: "週間?", month: "[かヶカ]?月", year: "年" },
    ago: ["N\\s*U前"],
    last: ["(?:先|昨|去)U"],
    next: ["来U"],
    unspaced: true,
    numbers: { 一: 1, 二: 2, 三: 3, 四: 4, 五: 5, 六: 6, 七: 7, 八: 8, 九: 9, 十: 10 },
  },
};

const YEAR = String.raw`(?:\s+(?:de\s+)?(?<year>\d{4}))?`;

function numberOf(word: string, { numbers = {} }: Words): number {
  return /^\d/.test(word) ? Number(word) : (numbers[word] ?? 0);
}

function wordRule({ unspaced }: Words, source: string, read: Rule["read"]): Rule {
  return unspaced === true ? { pattern: new RegExp(source, "gu"), read } : rule(source, read);
}

/** Rules for patterns with `U` and perhaps `N`, which is 1 if it is missing. @param sign of the direction */
function unitRules(words: Words, patterns: readonly string[], sign: 1 | -1): Rule[] {
  const number = `(?<n>\\d{1,4}|${Object.keys(words.numbers ?? {}).join("|")})`;
  return patterns.flatMap((pattern) =>
    Object.entries(words.units ?? {}).map(([key, source]) => {
      // SAFETY: the keys of `units` are units.
      const unit = key as Unit;
      const written = pattern.replace("N", number).replace("U", `(?:${source})`);
      return wordRule(words, written, ({ word }, reference) => {
        const count = word("n") === "" ? 1 : numberOf(word("n"), words);
        return moment(shift(reference, one(unit, count), sign), true);
      });
    }),
  );
}

function rulesOf(words: Words): readonly Rule[] {
  const days = Object.entries(words.days ?? {}).map(([source, count]) =>
    wordRule(words, source, (_, reference) => dayAt(reference, count)),
  );
  return [
    ...days,
    ...unitRules(words, words.ago ?? [], -1),
    ...unitRules(words, words.last ?? [], -1),
    ...unitRules(words, words.next ?? [], 1),
  ];
}

function monthRules({ months: [before, ...months] = [""] }: Words): readonly Rule[] {
  return months.map((source, index) =>
    rule(
      String.raw`${before}\s+(?:${source})${YEAR}|(?:${source})\s+(?:de\s+)?(?<later>\d{4})`,
      (match) => {
        const year = match.word("year") || match.word("later");
        const parts = {
          year: year === "" ? undefined : Number(year),
          month: index + 1,
          day: undefined,
        };
        return { kind: "date", parts, clock: undefined };
      },
    ),
  );
}

const RULES = new Map<
  string,
  { readonly days: readonly Rule[]; readonly months: readonly Rule[] }
>();

function loaded(code: string) {
  const words = LANGUAGES[code];
  const known = RULES.get(code);
  if (known !== undefined || words === undefined) return known;
  const rules = { days: rulesOf(words), months: monthRules(words) };
  RULES.set(code, rules);
  return rules;
}

/** What the parser of a language would miss or mistake. */
export function readOtherDays(code: string, text: string, reference: Moment): Expression[] {
  return readRules(text, reference, loaded(code)?.days ?? []);
}

/** Months without a day, in what the parser has left. */
export function readOtherMonths(code: string, text: string, reference: Moment): Expression[] {
  return readRules(text, reference, loaded(code)?.months ?? []);
}
