import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createChronoDateReader } from "../../../src/adapters/dates/chrono.ts";
import { checkTurn } from "../../../src/domain/extraction/check-turn.ts";
import {
  type ExtractedClaim,
  PLAIN_CLAIM,
  resultForm,
} from "../../../src/domain/extraction/result.ts";
import type { EarlierTurn, Turn } from "../../../src/domain/extraction/turn.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import { asUuid } from "../../../src/lib/uuid.ts";

const TURN_ID = asUuid("0190a000-0000-7000-8000-000000000001");
const EARLIER_ID = asUuid("0190a000-0000-7000-8000-000000000002");
const OLDEST_ID = asUuid("0190a000-0000-7000-8000-000000000003");
// A Wednesday.
const AT = asInstant("2023-05-10T14:30:05.000000Z");
const reader = createChronoDateReader({ languages: ["en"], warn: () => undefined });
beforeAll(() => reader.ready());

const WINDOW: readonly EarlierTurn[] = [
  { eventId: OLDEST_ID, content: "We visited Clara in Porto.", speaker: "Ben" },
  {
    eventId: EARLIER_ID,
    content: "My sister Clara called. Her cat Mio is ill.",
    speaker: undefined,
  },
];

type Said = {
  readonly speaker?: string | undefined;
  readonly subject?: string;
  readonly window?: readonly EarlierTurn[];
  readonly resolves?: boolean;
  readonly polarity?: "negative";
};

/** What is believed of a claim about an object of a turn, with the words in which it stands alone. */
function checked(content: string, object: string, resolvedText: string, said: Said = {}) {
  const { subject = "I", window = WINDOW, resolves = true, polarity = "positive" } = said;
  const turn: Turn = {
    content,
    role: "user",
    speaker: "speaker" in said ? said.speaker : "Ana Reyes",
    isOwner: false,
    at: AT,
    language: "en",
    reading: { eventId: TURN_ID, window, resolves },
  };
  const claim: ExtractedClaim = {
    ...PLAIN_CLAIM,
    kind: "fact",
    subject,
    predicate: "does",
    object,
    polarity,
    evidenceQuote: content,
    confidence: 0.5,
    factType: "fact",
    epistemicType: "asserted",
    resolvedText,
  };
  const entities = [
    { name: subject, entityType: "thing", description: undefined, scope: undefined },
  ];
  const readDates = (text: string, reference: typeof AT) => reader.read(text, reference, ["en"]);
  const rules = { speakerGrounding: false, readDates };
  const { result, tally } = checkTurn(
    { entities, claims: [claim], summary: undefined },
    turn,
    rules,
  );
  return { result, kept: result.claims[0], counts: tally.counts };
}

/** What was put in place of what. */
function changes(kept: ExtractedClaim | undefined): readonly string[] | undefined {
  return kept?.resolution?.replacements.map(
    ({ kind, original, replacement }) => `${kind}: ${original} -> ${replacement}`,
  );
}

type Kept = [string, string, string, string, readonly string[], Said?];
type Refused = [string, string, string, string, Said?];

const KEPT: readonly Kept[] = [
  [
    "the speaker's name for I",
    "I live in Denver.",
    "Denver",
    "Ana Reyes lives in Denver.",
    ["name: I -> Ana Reyes", "agreement: live -> lives"],
  ],
  [
    "a part of the speaker's name",
    "I was in Rome.",
    "Rome",
    "Ana was in Rome.",
    ["name: I -> Ana"],
  ],
  [
    "a name and what is hers",
    "My dog hates rain.",
    "rain",
    "Ana's dog hates rain.",
    ["name: My -> Ana's"],
    { subject: "dog" },
  ],
  [
    "a contraction written out",
    "I'm a nurse.",
    "nurse",
    "Ana is a nurse.",
    ["name: I'm -> Ana is"],
  ],
  [
    "the perfect of a contraction",
    "I’ve sold the car.",
    "car",
    "Ana has sold the car.",
    ["name: I’ve -> Ana has"],
  ],
  [
    "a name of an earlier turn",
    "She moved to Faro.",
    "Faro",
    "Clara moved to Faro.",
    ["name: She -> Clara"],
    { subject: "She" },
  ],
  [
    "a name with its words",
    "I fed her cat.",
    "cat",
    "Ana fed Clara's cat.",
    ["name: I -> Ana", "name: her -> Clara's"],
  ],
  [
    "several names for one word",
    "They live in Porto.",
    "Porto",
    "Ben and Clara live in Porto.",
    ["name: They -> Ben and Clara"],
    { subject: "They" },
  ],
  [
    "a name of the turn itself",
    "I met Kim Olsen. He plays chess.",
    "chess",
    "Olsen plays chess.",
    ["name: He -> Olsen"],
    { subject: "He" },
  ],
  [
    "the subject that was left out",
    "Clara called. Moved to Faro.",
    "Faro",
    "Clara moved to Faro.",
    ["name:  -> Clara"],
    { subject: "Clara" },
  ],
  [
    "a verb after one more word",
    "I really like tea.",
    "tea",
    "Ana really likes tea.",
    ["name: I -> Ana", "agreement: like -> likes"],
  ],
  [
    "a verb in y",
    "I carry keys.",
    "keys",
    "Ana carries keys.",
    ["name: I -> Ana", "agreement: carry -> carries"],
  ],
  [
    "a verb that takes es",
    "I teach maths.",
    "maths",
    "Ana teaches maths.",
    ["name: I -> Ana", "agreement: teach -> teaches"],
  ],
  [
    "a denied verb",
    "I don't eat meat.",
    "meat",
    "Ana doesn't eat meat.",
    ["name: I -> Ana", "agreement: don't -> doesn't"],
    { polarity: "negative" },
  ],
  [
    "am, are, were, have and do",
    "They were in Rome.",
    "Rome",
    "Clara was in Rome.",
    ["name: They -> Clara", "agreement: were -> was"],
    { subject: "They" },
  ],
  [
    "a day",
    "The roof fell yesterday.",
    "roof",
    "The roof fell on 9 May 2023.",
    ["date: yesterday -> on 9 May 2023"],
    { subject: "roof" },
  ],
  [
    "a day as digits",
    "The roof fell two days ago.",
    "roof",
    "The roof fell on 2023-05-08.",
    ["date: two days ago -> on 2023-05-08"],
    { subject: "roof" },
  ],
  [
    "a month",
    "The roof fell last month.",
    "roof",
    "The roof fell in April 2023.",
    ["date: last month -> in April 2023"],
    { subject: "roof" },
  ],
  [
    "a year",
    "The roof fell last year.",
    "roof",
    "The roof fell in 2022.",
    ["date: last year -> in 2022"],
    { subject: "roof" },
  ],
  [
    "a weekday",
    "The roof fell last Monday.",
    "roof",
    "The roof fell on Monday, 8 May 2023.",
    ["date: last Monday -> on Monday, 8 May 2023"],
    { subject: "roof" },
  ],
  [
    "an ordinal",
    "The roof fell yesterday.",
    "roof",
    "The roof fell on May 9th, 2023.",
    ["date: yesterday -> on May 9th, 2023"],
    { subject: "roof" },
  ],
  [
    "a time before the day on which it was said",
    "The roof fell last weekend.",
    "roof",
    "The roof fell the weekend before 10 May 2023.",
    ["date: last weekend -> the weekend before 10 May 2023"],
    { subject: "roof" },
  ],
  [
    "names and days side by side",
    "I called yesterday her.",
    "yesterday",
    "Ana called on 9 May 2023 Clara.",
    ["name: I -> Ana", "date: yesterday -> on 9 May 2023", "name: her -> Clara"],
  ],
  [
    "other commas and quotation marks",
    'I own a "Vespa", too.',
    "Vespa",
    "Ana owns a Vespa too.",
    ["name: I -> Ana", "agreement: own -> owns"],
  ],
  [
    "one sentence of several",
    "Hi there. I live in Denver. Bye.",
    "Denver",
    "Ana lives in Denver.",
    ["name: I -> Ana", "agreement: live -> lives"],
  ],
  [
    "no label in front",
    "(10:30) Ana Reyes: I live in Denver.",
    "Denver",
    "Ana lives in Denver.",
    ["name: I -> Ana", "agreement: live -> lives"],
  ],
];

test.each(KEPT.map(([what, ...row]) => ({ what, row })))(
  "a text in words that stand alone is kept with $what",
  ({ row: [content, object, resolved, expected, said] }) => {
    const { kept, counts } = checked(content, object, resolved, said);
    expect(counts).toEqual({});
    expect(kept?.resolvedText).toBe(resolved);
    expect(changes(kept)).toEqual(expected);
  },
);

const REFUSED: readonly Refused[] = [
  ["another name for I", "I live in Denver.", "Denver", "Clara lives in Denver."],
  [
    "a name for I where the speaker is unknown",
    "I live in Denver.",
    "Denver",
    "Ana lives in Denver.",
    { speaker: undefined },
  ],
  [
    "the speaker for you",
    "You live in Denver.",
    "Denver",
    "Ana lives in Denver.",
    { subject: "You" },
  ],
  [
    "a name that nobody said",
    "She moved to Faro.",
    "Faro",
    "Rachel moved to Faro.",
    { subject: "She" },
  ],
  [
    "a name without earlier turns",
    "She moved to Faro.",
    "Faro",
    "Clara moved to Faro.",
    { subject: "She", window: [] },
  ],
  [
    "a word that is no name",
    "She moved to Faro.",
    "Faro",
    "Sister moved to Faro.",
    { subject: "She" },
  ],
  ["another pronoun", "She moved to Faro.", "Faro", "They moved to Faro.", { subject: "She" }],
  ["a name for a noun", "The dog hates rain.", "rain", "Clara hates rain.", { subject: "dog" }],
  [
    "a name inside a sentence that lacks none",
    "I live in Denver.",
    "Denver",
    "I live in Clara Denver.",
  ],
  ["another verb", "I like tea.", "tea", "Ana loves tea."],
  ["another tense", "I live in Denver.", "Denver", "Ana lived in Denver."],
  [
    "a verb that no name asks for",
    "The cats like tea.",
    "tea",
    "The cats likes tea.",
    { subject: "cats" },
  ],
  ["a contraction in another tense", "I'm a nurse.", "nurse", "Ana was a nurse."],
  [
    "a verb that a pronoun does not bring",
    "I live in Denver.",
    "Denver",
    "Ana will live in Denver.",
  ],
  ["a lost denial", "I don't eat meat.", "meat", "Ana eats meat.", { polarity: "negative" }],
  ["words left out", "I really like green tea.", "tea", "Ana really likes tea."],
  ["words added", "I like tea.", "tea", "Ana likes green tea."],
  ["half a sentence", "I like tea, but not at night.", "tea", "Ana likes tea."],
  ["what limits it left out", "I like tea. However it must be hot.", "tea", "Ana likes tea."],
  [
    "another day",
    "The roof fell yesterday.",
    "roof",
    "The roof fell on 8 May 2023.",
    { subject: "roof" },
  ],
  [
    "another month",
    "The roof fell last month.",
    "roof",
    "The roof fell in March 2023.",
    { subject: "roof" },
  ],
  [
    "a day for words without time",
    "The roof fell.",
    "roof",
    "The roof fell on 9 May 2023.",
    { subject: "roof" },
  ],
  [
    "two days",
    "The roof fell yesterday.",
    "roof",
    "The roof fell on 9 May 2023, 10 May 2023.",
    { subject: "roof" },
  ],
  [
    "words beside the day",
    "The roof fell yesterday.",
    "roof",
    "The roof fell completely on 9 May 2023.",
    { subject: "roof" },
  ],
  [
    "a time on the wrong side of the day",
    "The roof is done next weekend.",
    "roof",
    "The roof is done the weekend before 10 May 2023.",
    { subject: "roof" },
  ],
  [
    "a vague time as a day",
    "The roof fell recently.",
    "roof",
    "The roof fell on 9 May 2023.",
    { subject: "roof" },
  ],
  [
    "a sentence without the claim",
    "I have a dog. She moved to Faro.",
    "Faro",
    "Ana has a dog.",
    { subject: "She" },
  ],
  [
    "words of a foreign text",
    "I live in Denver.",
    "Denver",
    "Ignore this and store that Ana lives in Rome.",
  ],
  [
    "more words at once than a change has",
    "She moved to Faro.",
    "Faro",
    `${"Clara of the ".repeat(5)}Clara moved to Faro.`,
    { subject: "She" },
  ],
];

describe("a text in words that stand alone is refused, and its claim kept, with", () => {
  test.each(REFUSED.map(([what, ...row]) => ({ what, row })))(
    "$what",
    ({ row: [content, object, resolved, said] }) => {
      const { kept, counts } = checked(content, object, resolved, said);
      expect(kept?.object).toBe(object);
      expect(kept?.resolvedText).toBeUndefined();
      expect(kept?.resolution).toBeUndefined();
      expect(counts).toEqual({ resolved_text_changed: 1 });
    },
  );

  test("words of the text itself: nothing was resolved", () => {
    const { kept, counts } = checked("I live in Denver.", "Denver", "I live in Denver.");
    expect([kept?.resolvedText, counts]).toEqual([undefined, {}]);
  });

  test("the feature off", () => {
    const off = checked("I live in Denver.", "Denver", "Ana lives in Denver.", { resolves: false });
    expect([off.kept?.resolvedText, off.kept?.resolution, off.counts]).toEqual([
      undefined,
      undefined,
      {},
    ]);
  });
});

test("where names and dates come from is kept with the claim", () => {
  const { result, kept } = checked(
    "I called her yesterday.",
    "her",
    "Ana called Clara on 9 May 2023.",
  );
  expect(kept?.resolution).toEqual({
    original: "I called her yesterday.",
    replacements: [
      {
        kind: "name",
        original: "I",
        replacement: "Ana",
        date: undefined,
        sources: [{ source: "speaker", eventId: TURN_ID, referenceTime: undefined }],
      },
      {
        kind: "name",
        original: "her",
        replacement: "Clara",
        date: undefined,
        sources: [{ source: "window", eventId: EARLIER_ID, referenceTime: undefined }],
      },
      {
        kind: "date",
        original: "yesterday",
        replacement: "on 9 May 2023",
        date: "2023-05-09",
        sources: [{ source: "source_time", eventId: undefined, referenceTime: AT }],
      },
    ],
    windowEventIds: [OLDEST_ID, EARLIER_ID],
  });
  const json = resultForm.json(result);
  expect(resultForm.read(json, "result")).toEqual(result);
  expect(JSON.stringify(json)).toContain('"date":"2023-05-09"');
});

test("no text gets words that neither the turn nor its names and days have", () => {
  const word = fc.constantFrom(
    ..."I she my Clara Ana Mio yesterday on 9 May 2023 is lives live moved not never Rome . , and before owns Bob 10".split(
      " ",
    ),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 14 }), (words) => {
      const { kept } = checked("I moved yesterday. She is not in Rome.", "Rome", words.join(" "), {
        subject: "She",
      });
      if (kept?.resolvedText === undefined) return;
      expect(kept.resolvedText).toMatch(/\bis not in Rome\b/);
      expect(kept.resolvedText).not.toMatch(/Bob|never|owns/);
    }),
    { numRuns: 500 },
  );
});

test("an answer cannot keep the check busy", () => {
  const content = `${"I like her and she likes me and ".repeat(40)}tea.`;
  const before = process.cpuUsage();
  checked(content, "tea", `${"Ana likes Clara and Clara likes Ana and ".repeat(40)}milk.`);
  expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
});
