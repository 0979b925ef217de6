import type { Chrono, ParsingComponents } from "chrono-node/en";

const NUMBER_WORDS: readonly string[] = `one two three four five six seven eight nine ten eleven
  twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen`.split(/\s+/);

type PhraseParser = Chrono["parsers"][number];
type Duration = Readonly<Partial<Record<"day" | "week" | "month" | "year", number>>>;
/** The date at some distance from the reference. */
type Shift = (
  context: Parameters<PhraseParser["pattern"]>[0],
  duration: Duration,
) => ParsingComponents;

type Words = {
  readonly days?: Readonly<Record<string, number>>;
  /** Words of a unit, with its length. */
  readonly units?: readonly (readonly [pattern: string, length: Duration])[];
  /** Patterns around a number N and a unit U; without N it is one unit. */
  readonly past?: readonly string[];
  readonly next?: readonly string[];
  readonly numbers?: ReadonlyMap<string, number>;
  /** Words allowed before a month without a day. */
  readonly beforeMonth?: string;
  readonly unspaced?: boolean;
};

function counting(text: string): ReadonlyMap<string, number> {
  return new Map(
    text
      .split(" ")
      .flatMap((words, index) => words.split("|").map((word) => [word, index + 1] as const)),
  );
}

const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const ENGLISH: ReadonlyMap<string, number> = new Map([
  ...counting(NUMBER_WORDS.join(" ")),
  ...TENS.flatMap((ten, tens) =>
    ["", ...NUMBER_WORDS.slice(0, 9)].map(
      (one, ones) => [`${ten} ${one}`.trim(), (tens + 2) * 10 + ones] as const,
    ),
  ),
  ...(["a", "an"] as const).map((word) => [word, 1] as const),
]);

/** Supplements to each language's own parser. */
const WORDS: Readonly<Record<string, Words>> = {
  en: {
    days: { "(?:the )?day after tomorrow": 2, "(?:the )?day before yesterday": -2 },
    units: [
      ["nights?", { day: 1 }],
      ["weeks?", { week: 1 }],
      ["fortnights?", { week: 2 }],
      ["months?", { month: 1 }],
      ["years?", { year: 1 }],
      ["decades?", { year: 10 }],
      ["century|centuries", { year: 100 }],
    ],
    past: [String.raw`N(?<half>\s+and\s+a\s+half)?\s+U(?<after>\s+and\s+a\s+half)?\s+ago`],
    numbers: ENGLISH,
  },
  de: { days: { überübermorgen: 3 }, beforeMonth: "im|seit|ab|bis" },
  fr: {
    days: { "avant-hier": -2, "après-demain": 2 },
    units: [["ans?|années?", { year: 1 }]],
    past: [String.raw`il\s+y\s+a\s+N\s+U`],
    numbers: counting("un|une deux trois quatre cinq six sept huit neuf dix"),
    beforeMonth: "en|depuis",
  },
  es: {
    days: { "anteayer|antes de ayer|antier": -2, anoche: -1, "pasado mañana": 2 },
    units: [
      ["d[íi]as?", { day: 1 }],
      ["semanas?", { week: 1 }],
      ["mes(?:es)?", { month: 1 }],
      ["años?", { year: 1 }],
    ],
    past: [String.raw`hace\s+N\s+U|(?:el|la)\s+(?:U\s+pasad[oa]|[úu]ltim[oa]\s+U)`],
    next: [String.raw`(?:el|la)\s+(?:pr[óo]xim[oa]\s+U|U\s+que\s+viene)`],
    numbers: counting("un|una dos tres cuatro cinco seis siete ocho nueve diez"),
  },
  it: { days: { "l'altro ieri|avant'ieri": -2, dopodomani: 2 } },
  pt: {
    days: { anteontem: -2, "depois de amanhã": 2 },
    units: [
      ["dias?", { day: 1 }],
      ["semanas?", { week: 1 }],
      ["m[êe]s(?:es)?", { month: 1 }],
      ["anos?", { year: 1 }],
    ],
    past: [
      String.raw`h[áa]\s+N\s+U`,
      String.raw`N\s+U\s+atrás`,
      String.raw`n?[oa]\s+(?:U\s+passad[oa]|últim[oa]\s+U)`,
    ],
    next: [String.raw`n?[oa]\s+(?:próxim[oa]\s+U|U\s+que\s+vem)`],
    numbers: counting("um|uma dois|duas três quatro cinco seis sete oito nove dez"),
    beforeMonth: "em|desde",
  },
  nl: { days: { eergisteren: -2, gisteravond: -1, overmorgen: 2 } },
  ja: {
    days: { "一昨日|おととい": -2, 明後日: 2 },
    units: [
      ["日", { day: 1 }],
      ["週間?", { week: 1 }],
      ["[かヶカ]?月", { month: 1 }],
      ["年", { year: 1 }],
    ],
    past: ["N\\s*U前|[先昨去]U"],
    next: ["来U"],
    numbers: counting("一 二 三 四 五 六 七 八 九 十"),
    unspaced: true,
  },
};

/** Parsers of one language for what its own one lacks: days and units in words, months and decades alone. */
export function phraseParsers(code: string, shift: Shift): PhraseParser[] {
  const words = WORDS[code] ?? {};
  const parser = (source: string, extract: PhraseParser["extract"]): PhraseParser =>
    phrase(source, extract, words.unspaced);
  const days = Object.entries(words.days ?? {}).map(([source, day]) =>
    parser(source, (context) => shift(context, { day })),
  );
  const numbers = [...(words.numbers?.keys() ?? [])].sort((a, b) => b.length - a.length);
  const number = `(?<n>\\d{1,4}|${numbers.join("|").replaceAll(" ", "[\\s-]+")})`;
  const moved = (patterns: readonly string[] = [], sign: 1 | -1): PhraseParser[] =>
    patterns.flatMap((pattern) =>
      (words.units ?? []).map(([unit, length]) =>
        parser(pattern.replace("N", number).replaceAll("U", `(?:${unit})`), (context, match) => {
          const word = match.groups?.["n"]?.toLowerCase().replace(/[\s-]+/, " ") ?? "1";
          const half = match.groups?.["half"] ?? match.groups?.["after"];
          const whole = words.numbers?.get(word) ?? Number(word);
          const times = sign * (half === undefined ? whole : whole + 0.5);
          return shift(
            context,
            Object.fromEntries(Object.entries(length).map(([key, value]) => [key, value * times])),
          );
        }),
      ),
    );
  return [
    ...days,
    ...moved(words.past, -1),
    ...moved(words.next, 1),
    ...(words.beforeMonth === undefined ? [] : monthParsers(code, words.beforeMonth)),
    ...(code === "en" ? englishParsers(shift) : []),
  ];
}

function phrase(source: string, extract: PhraseParser["extract"], unspaced = false): PhraseParser {
  const end = unspaced ? "" : String.raw`(?![\p{L}\p{N}_])`;
  const pattern = new RegExp(`(?:${source})${end}`, "iu");
  return {
    pattern: () => pattern,
    // Not as a lookbehind: after a match, the parser searches in what is left of the text.
    extract: (context, match) =>
      !unspaced && /[\p{L}\p{N}_]$/u.test(context.text.slice(0, match.index))
        ? null
        : extract(context, match),
  };
}

function monthParsers(code: string, before: string): PhraseParser[] {
  const names = new Intl.DateTimeFormat(code, { month: "long", timeZone: "UTC" });
  return Array.from({ length: 12 }, (_, index) => {
    const name = names.format(Date.UTC(2000, index, 15));
    const source = String.raw`(?:${before})\s+${name}(?:\s+(?:de\s+)?(?<year>\d{4}))?|${name}\s+(?:de\s+)?(?<later>\d{4})`;
    return phrase(source, (_context, { groups = {} }) =>
      monthAndYear(index + 1, groups["year"] ?? groups["later"]),
    );
  });
}

function monthAndYear(month: number, year: string | undefined) {
  return year === undefined ? { month } : { month, year: Number(year) };
}

const DECADES = ["", "", ...TENS].map((ten) => ten.replace(/y$/, "ies"));
/** What may follow "on the 5th" when it is a date and not, say, a floor. */
const NO_NOUN = String.raw`(?=\s*(?:$|[^\p{L}\p{N}\s]|(?:and|or|at|with|for|from|to|by|when|where|what|who|how|why|did|do|does|was|were|is|are|have|has|had|i|we|he|she|they|you|it|my|our|the|that|but)(?![\p{L}\p{N}_])))`;

function englishParsers(shift: Shift): PhraseParser[] {
  return [
    phrase(
      String.raw`(?:the\s+)?(?<unit>week|month|year)\s+(?<which>before\s+last|after\s+next)`,
      (context, { groups = {} }) =>
        shift(context, {
          [(groups["unit"] ?? "week").toLowerCase()]: /^before/i.test(groups["which"] ?? "")
            ? -2
            : 2,
        }),
    ),
    phrase("weekend", () => ({ weekday: 6 })),
    phrase(
      String.raw`(?:on|by|since|until|till|before|after|from)\s+the\s+(?<day>[12]?\d|3[01])(?:st|nd|rd|th)${NO_NOUN}`,
      (_context, { groups = {} }) => ({ day: Number(groups["day"]) }),
    ),
    phrase(
      String.raw`the\s+(?:(?:early|mid|late)[\s-]+)?(?:(?<age>19|20)|['’])?(?:(?<tens>\d)0['’]?s|(?<name>${DECADES.slice(2).join("|")}))`,
      ({ refDate }, { groups = {} }) => {
        const { age, tens, name } = groups;
        const years =
          (name === undefined ? Number(tens) : DECADES.indexOf(name.toLowerCase())) * 10;
        const now = refDate.getUTCFullYear();
        const century = age === undefined ? Math.floor(now / 100) : Number(age);
        const year = century * 100 + years;
        return { year: age === undefined && year > now ? year - 100 : year };
      },
    ),
  ];
}
