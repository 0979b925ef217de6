import { beforeAll, describe, expect, test } from "bun:test";
import { createChronoDateReader } from "../../../src/adapters/dates/chrono.ts";
import {
  isMentioned,
  isNamed,
  isPersonal,
  mentionsFirstPerson,
} from "../../../src/domain/extraction/cues.ts";
import {
  findQuote,
  Passages,
  sentencesOf,
  shortestRun,
} from "../../../src/domain/extraction/passages.ts";
import { resolveDate } from "../../../src/domain/extraction/plan/context.ts";
import { asInstant } from "../../../src/lib/instant.ts";

describe("a quote", () => {
  const text = "“Hi,” she said. It's Anna’s book. It's Anna’s pen.";

  test("stands in a text whatever the form of its quotation marks", () => {
    expect(findQuote(text, '"Hi," she said.')).toEqual({ from: 0, to: 15 });
    expect(findQuote(text, "It’s Anna's book.")).toEqual({ from: 16, to: 33 });
  });

  test("has to have the same case and blanks, and something in it", () => {
    expect(findQuote(text, "it's Anna’s book.")).toBeUndefined();
    expect(findQuote(text, "It's  Anna’s book.")).toBeUndefined();
    expect(findQuote(text, "  ")).toBeUndefined();
  });

  test("stands for the whole text when it occurs twice", () => {
    expect(findQuote(text, "It's Anna’s")).toEqual({ from: 0, to: text.length });
  });
});

describe("the passages around a quote", () => {
  const text = "Intro.\n\nI live in Denver. But only if the job lasts. I like it.\n \nEnd.";
  const passages = new Passages(text);
  const quote = findQuote(text, "live in Denver") ?? { from: 0, to: 0 };
  const part = ({ from, to }: { from: number; to: number }) => text.slice(from, to);

  test("are its paragraph between blank lines", () => {
    expect(part(passages.paragraphAround(quote))).toBe(
      "I live in Denver. But only if the job lasts. I like it.",
    );
  });

  test("are its sentence with those that limit it", () => {
    expect(part(passages.sentencesAround(quote))).toBe(
      "I live in Denver. But only if the job lasts.",
    );
  });

  test("hold every character that is not a blank", () => {
    const odd = 'He said "Stop!" Then (really?) he left...\n\nv2.0 works. 你好。再见。 End';
    const parts = sentencesOf(odd).map(({ from, to }) => odd.slice(from, to));
    expect(parts).toEqual([
      'He said "Stop!"',
      "Then (really?)",
      "he left...",
      "v2.0 works.",
      "你好。",
      "再见。",
      "End",
    ]);
    expect(parts.join("").replace(/\s/g, "")).toBe(odd.replace(/\s/g, ""));
  });
});

describe("the text of a claim", () => {
  const passage =
    "Hi there! I live in Denver. My sister is Rachel. She works at Acme. However she may leave. Bye.";

  test.each([
    [passage, "I", "Denver", "I live in Denver."],
    [passage, "She", "Acme", "She works at Acme. However she may leave."],
    [passage, "I", "Acme", "My sister is Rachel. She works at Acme. However she may leave."],
    [passage, "I", "Chicago", undefined],
    ["We use v2.0 of Foo. It is e.g. good.", "We", "Foo", "We use v2.0 of Foo."],
  ])("of %p is the shortest run that names %s and %s", (text, subject, object, expected) => {
    const names = [subject, object].map((name) => (part: string) => isNamed(name, part, "en"));
    expect(shortestRun(text, names)).toBe(expected);
  });
});

describe("a value", () => {
  test.each([
    ["Zoë", "Zoës", false],
    ["Zoë", "with ZOË.", true],
    ["$500", "$500 for", true],
    ["500", "$5001", false],
    ["Ann", "Anna and Ann", true],
    ["北京", "我住在北京", true],
    ["user_id", "the user_id_2", false],
    ["  tea ", "Tea!", true],
    ["", "anything", false],
  ])("%p in %p as whole words: %p", (value, text, expected) => {
    expect(isMentioned(value, text)).toBe(expected);
  });

  test.each([
    ["I", "my sister", "en", true],
    ["my", "I agree", "en", true],
    ["I", "a file, i.e. this one", "en", false],
    ["we", "our house", "en", false],
    ["I", "meine Schwester", "de", true],
    ["ich", "Mein Auto", "de", true],
    ["yo", "mi coche", "es", true],
    ["yo", "Vivo en Sevilla.", "es", true],
    ["yo", "El gato come pescado.", "es", false],
    ["I", "5 mi away", "en", false],
  ] as const)("%p for the speaker of %p (%s): %p", (value, text, language, expected) => {
    expect(isNamed(value, text, language)).toBe(expected);
  });

  test("is personal unless it is a thing of that name", () => {
    expect(isPersonal("They")).toBe(true);
    expect(isPersonal("It", "technology")).toBe(false);
    expect(isPersonal("Clara")).toBe(false);
    expect(mentionsFirstPerson("Nothing here.", "en")).toBe(false);
  });
});

// A Wednesday.
const REFERENCE = asInstant("2023-05-10T14:30:05.000000Z");
const reader = createChronoDateReader({ languages: ["en"], warn: () => undefined });
beforeAll(() => reader.ready());

function resolved(expression: string): string | undefined {
  const read = (text: string, reference: typeof REFERENCE) => reader.read(text, reference, ["en"]);
  return resolveDate(expression, REFERENCE, read)?.slice(0, 19);
}

const SAME_TIME =
  `today 05-10, now 05-10, this week 05-10, this month 05-10, this year 05-10, yesterday 05-09, tomorrow 05-11,
  the day before yesterday 05-08, day before yesterday 05-08, day after tomorrow 05-12, the day after tomorrow 05-12, 2 days ago 05-08,
  two days ago 05-08, in 3 days 05-13, last week 05-03, next week 05-17, a week ago 05-03, two weeks ago 04-26, in two weeks 05-24,
  last month 04-10, next month 06-10, a month ago 04-10`
    .split(/,\s+/)
    .map((line): [string, string] => [line.slice(0, -6), `2023-${line.slice(-5)}T14:30:05`]);

test.each([
  ...SAME_TIME,
  ["last year", "2022-05-10T14:30:05"],
  ["next year", "2024-05-10T14:30:05"],
  ["10 years ago", "2013-05-10T14:30:05"],
  ["a decade ago", "2013-05-10T14:30:05"],
  ["an hour ago", "2023-05-10T13:30:05"],
  ["5 minutes ago", "2023-05-10T14:25:05"],
  ["2 years later", "2025-05-10T14:30:05"],
  ["tonight", "2023-05-10T22:00:00"],
  ["last night", "2023-05-09T14:30:05"],
  ["this morning", "2023-05-10T06:00:00"],
  ["yesterday evening", "2023-05-09T20:00:00"],
  ["Monday", "2023-05-08T00:00:00"],
  ["on Monday", "2023-05-08T00:00:00"],
  ["last Monday", "2023-05-08T00:00:00"],
  ["next Monday", "2023-05-15T00:00:00"],
  ["this Monday", "2023-05-15T00:00:00"],
  ["Wednesday", "2023-05-03T00:00:00"],
  ["last Wednesday", "2023-05-03T00:00:00"],
  ["Friday", "2023-05-05T00:00:00"],
  ["last Friday", "2023-05-05T00:00:00"],
  ["next Friday", "2023-05-12T00:00:00"],
  ["this Friday", "2023-05-12T00:00:00"],
  ["yesterday at 3pm", "2023-05-09T15:00:00"],
  ["3 pm yesterday", "2023-05-09T15:00:00"],
  ["3pm", "2023-05-09T15:00:00"],
  ["10:30", "2023-05-10T10:30:00"],
  ["noon", "2023-05-10T12:00:00"],
  ["midnight", "2023-05-10T00:00:00"],
  ["next Tuesday at 5pm", "2023-05-16T17:00:00"],
  ["Tuesday afternoon", "2023-05-09T15:00:00"],
  ["March", "2023-03-10T00:00:00"],
  ["in March", "2023-03-10T00:00:00"],
  ["June", "2022-06-10T00:00:00"],
  ["March 2024", "2024-03-10T00:00:00"],
  ["2024", "2024-05-10T00:00:00"],
  ["in 2024", "2024-05-10T00:00:00"],
  ["March 5", "2023-03-05T00:00:00"],
  ["on March 5th", "2023-03-05T00:00:00"],
  ["5 March", "2023-03-05T00:00:00"],
  ["December 25", "2022-12-25T00:00:00"],
  ["March 5th, 2022", "2022-03-05T00:00:00"],
  ["7 May 2023", "2023-05-07T00:00:00"],
  ["2023-04-01", "2023-04-01T00:00:00"],
  ["2023/04/01", "2023-04-01T00:00:00"],
  ["2023-04-01T10:00:00Z", "2023-04-01T10:00:00"],
  ["04/05/2023", "2023-04-05T00:00:00"],
  ["13/05/2023", "2023-05-13T00:00:00"],
])("%s is %s", (expression, expected) => {
  expect(resolved(expression)).toBe(expected);
});

test.each(
  `recently|currently|soon|earlier|later|right now|a few days ago|a couple of weeks ago|several years ago|a while ago|last weekend|
  this weekend|last March|next March|summer|since 2020|for two years|over the past year|in the past week|within the past month|every day|
  early 2023|mid May|end of March|Christmas|20230401|5|the 1980s|Q3 2022|ago|between Monday and Friday||gestern`
    .split("|")
    .map((expression) => [expression.trim()]),
)("%p names no single moment", (expression) => {
  expect(resolved(expression)).toBeUndefined();
});
