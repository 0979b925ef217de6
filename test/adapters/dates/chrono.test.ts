import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createChronoDateReader } from "../../../src/adapters/dates/chrono.ts";
import { asInstant, fromDate } from "../../../src/lib/instant.ts";

/** A Wednesday. */
const REFERENCE = asInstant("2026-03-18T15:30:00.000000Z");

const warnings: string[] = [];
const reader = createChronoDateReader({
  languages: ["en", "de", "fr"],
  warn: (message) => warnings.push(message),
});

beforeAll(() => reader.ready());

/** The dates of a text, to the minute, midnight left out. */
function datesOf(text: string, reference = REFERENCE, languages: readonly string[] = ["en"]) {
  return reader
    .read(text, reference, languages)
    .map(({ resolved }) => resolved.slice(0, 16).replace("T00:00", ""));
}

type Row = readonly [text: string, ...dates: readonly string[]];

function readsEach(rows: readonly Row[]): void {
  test.each(rows.map(([text, ...dates]) => ({ text, dates })))(
    "$text: $dates",
    ({ text, dates }) => {
      expect(datesOf(text)).toEqual(dates);
      expect(datesOf(`So, ${text}, what was it?`)).toEqual(dates);
      // Lower case words that are names otherwise are the one exception, see below.
      if (!/March|Sat|Sun/.test(text)) expect(datesOf(text.toLowerCase())).toEqual(dates);
    },
  );
}

describe("days beside the reference keep its time of day:", () => {
  readsEach([
    ["yesterday", "2026-03-17T15:30"],
    ["today", "2026-03-18T15:30"],
    ["tomorrow", "2026-03-19T15:30"],
    ["the day before yesterday", "2026-03-16T15:30"],
    ["the day after tomorrow", "2026-03-20T15:30"],
    ["day after tomorrow", "2026-03-20T15:30"],
  ]);
});

describe("amounts with a direction move the date and keep the time of day:", () => {
  readsEach([
    ["5 seconds ago", "2026-03-18T15:29"],
    ["10 minutes ago", "2026-03-18T15:20"],
    ["an hour ago", "2026-03-18T14:30"],
    ["1.5 hours ago", "2026-03-18T14:00"],
    ["half an hour ago", "2026-03-18T15:00"],
    ["a day ago", "2026-03-17T15:30"],
    ["three days earlier", "2026-03-15T15:30"],
    ["three nights ago", "2026-03-15T15:30"],
    ["a couple of weeks ago", "2026-03-04T15:30"],
    ["a fortnight ago", "2026-03-04T15:30"],
    ["two weeks ago", "2026-03-04T15:30"],
    ["a few months ago", "2025-12-18T15:30"],
    ["about 18 months ago", "2024-09-18T15:30"],
    ["two quarters ago", "2025-09-18T15:30"],
    ["twenty-five years ago", "2001-03-18T15:30"],
    ["a year and a half ago", "2024-09-18T15:30"],
    ["two and a half years ago", "2023-09-18T15:30"],
    ["2 years and 3 months ago", "2023-12-18T15:30"],
    ["three decades ago", "1996-03-18T15:30"],
    ["a century ago", "1926-03-18T15:30"],
    ["in 3 days", "2026-03-21T15:30"],
    ["in two weeks' time", "2026-04-01T15:30"],
    ["2 weeks later", "2026-04-01T15:30"],
    ["2 weeks from now", "2026-04-01T15:30"],
    ["2 weeks after", "2026-04-01T15:30"],
    ["2 weeks before", "2026-03-04T15:30"],
    ["two weeks before my birthday", "2026-03-04T15:30"],
  ]);
});

describe("weeks, months and years beside the reference:", () => {
  readsEach([
    ["last week", "2026-03-11T15:30"],
    ["the past week", "2026-03-11T15:30"],
    ["next week", "2026-03-25T15:30"],
    ["last month", "2026-02-18T15:30"],
    ["next month", "2026-04-18T15:30"],
    ["last year", "2025-03-18T15:30"],
    ["next year", "2027-03-18T15:30"],
    ["last quarter", "2025-12-18T15:30"],
    ["the week before last", "2026-03-04T15:30"],
    ["the year after next", "2028-03-18T15:30"],
    ["this week", "2026-03-18T15:30"],
    ["this month", "2026-03-18T15:30"],
    ["this year", "2026-03-18T15:30"],
  ]);
});

describe("lengths of time lie in the past:", () => {
  readsEach([
    ["in the last 3 days", "2026-03-15T15:30"],
    ["over the past two months", "2026-01-18T15:30"],
    ["the last few days", "2026-03-15T15:30"],
    ["for 2 hours", "2026-03-18T13:30"],
    ["for a year", "2025-03-18T15:30"],
    ["the next 3 days", "2026-03-21T15:30"],
    ["twice a day"],
    ["once an hour"],
    ["five years old"],
    ["a 3-year-old"],
  ]);
});

describe("weekdays are the latest ones unless a word says otherwise:", () => {
  readsEach([
    ["Monday", "2026-03-16"],
    ["Wednesday", "2026-03-18"],
    ["Thursday", "2026-03-12"],
    ["on Friday", "2026-03-13"],
    ["by Sunday", "2026-03-15"],
    ["since Tuesday", "2026-03-17"],
    ["until Monday", "2026-03-16"],
    ["past Monday", "2026-03-16"],
    ["this past Friday", "2026-03-13"],
    ["last Monday", "2026-03-16"],
    ["last Wednesday", "2026-03-11"],
    ["next Monday", "2026-03-23"],
    ["next Wednesday", "2026-03-25"],
    ["this Friday", "2026-03-20"],
    ["Sat", "2026-03-14"],
    ["on Thurs", "2026-03-12"],
    ["Monday of next week", "2026-03-23"],
    ["last Tuesday at 5pm", "2026-03-17T17:00"],
    ["Friday night", "2026-03-13T20:00"],
    ["the weekend", "2026-03-14"],
    ["weekend", "2026-03-14"],
    ["last weekend", "2026-03-14"],
    ["this weekend", "2026-03-21"],
    ["next weekend", "2026-03-21"],
  ]);

  test("small letters alone make no weekday of words that mean something else", () => {
    expect(datesOf("where i sat in the sun")).toEqual([]);
    expect(datesOf("on sat and last sun")).toEqual(["2026-03-14", "2026-03-15"]);
  });

  test("during a weekend it is this one, and the last one is the one before", () => {
    const sunday = asInstant("2026-03-22T10:00:00.000000Z");
    const weekends = ["the weekend", "this weekend", "last weekend", "next weekend"];

    expect(weekends.map((text) => datesOf(text, sunday))).toEqual([
      ["2026-03-21"],
      ["2026-03-21"],
      ["2026-03-14"],
      ["2026-03-28"],
    ]);
  });
});

describe("months and years take the missing parts from the reference:", () => {
  readsEach([
    ["March", "2026-03-18"],
    ["in June", "2026-06-18"],
    ["in May", "2026-05-18"],
    ["last June", "2025-06-18"],
    ["last March", "2025-03-18"],
    ["next March", "2027-03-18"],
    ["next June", "2026-06-18"],
    ["March 2023", "2023-03-18"],
    ["May, 2023", "2023-05-18"],
    ["June of 2021", "2021-06-18"],
    ["early Sept 2021", "2021-09-18"],
    ["2023-05", "2023-05-18"],
    ["2023", "2023-03-18"],
    ["in 2019", "2019-03-18"],
    ["mid-2022", "2022-03-18"],
    ["2019-2021", "2019-03-18", "2021-03-18"],
    ["on the 5th", "2026-03-05"],
    ["on the 25th", "2026-03-25"],
    ["on the 5th floor"],
    ["$2000"],
    ["version 1.2.3"],
    ["call 555-123-1999"],
    ["call 555-1234"],
    ["+1 (555) 123 2024"],
    ["extension 1234"],
  ]);

  test("a day that the month lacks becomes its last one", () => {
    const end = asInstant("2026-03-31T08:00:00.000000Z");
    const texts = ["last month", "in June", "February 2024", "6 months ago", "on the 31st"];

    expect(texts.map((text) => datesOf(text, end))).toEqual([
      ["2026-02-28T08:00"],
      ["2026-06-30"],
      ["2024-02-29"],
      ["2025-09-30T08:00"],
      ["2026-03-31"],
    ]);
  });

  test("small letters alone make no month of words that mean something else", () => {
    expect(datesOf("may we march today")).toEqual(["2026-03-18T15:30"]);
    expect(datesOf("May")).toEqual([]);
    expect(datesOf("in march and in may")).toEqual(["2026-03-18", "2026-05-18"]);
  });
});

describe("full dates in every common order:", () => {
  readsEach([
    ["5 May 2023", "2023-05-05"],
    ["on 5 May, 2023", "2023-05-05"],
    ["5th of May 2023", "2023-05-05"],
    ["May 5, 2023", "2023-05-05"],
    ["May 5th 2023", "2023-05-05"],
    ["2023-05-06", "2023-05-06"],
    ["2023/05/06", "2023-05-06"],
    ["5/6/2023", "2023-05-06"],
    ["25/6/2023", "2023-06-25"],
    ["5.6.2023", "2023-05-06"],
    ["5-6-2023", "2023-05-06"],
    ["5/6/23", "2023-05-06"],
    ["2023-05-06T12:30:00Z", "2023-05-06T12:30"],
    ["2023-05-06T12:30:00+02:00", "2023-05-06T10:30"],
    ["7 May 2023 at 10:30", "2023-05-07T10:30"],
    ["10:30 on 7 May 2023", "2023-05-07T10:30"],
    ["May 7, 2023 at 5 pm", "2023-05-07T17:00"],
    ["May 5", "2026-05-05"],
    ["5 May", "2026-05-05"],
    ["the fifth of May", "2026-05-05T15:30"],
    ["on 3/14", "2026-03-14"],
    ["3/4 of a cup"],
    ["Monday, June 5, 2023", "2023-06-05"],
    ["Wednesday the 7th of June", "2026-06-07"],
    ["June 5-7, 2023", "2023-06-05", "2023-06-07"],
    ["between 3 May and 7 May 2023", "2023-05-03", "2023-05-07"],
    ["from April to June 2023", "2023-04-18", "2023-06-18"],
    ["31 June 2023 or 5 May 2021", "2023-03-18", "2021-05-05"],
  ]);
});

describe("times of day:", () => {
  readsEach([
    ["this morning", "2026-03-18T06:00"],
    ["this afternoon", "2026-03-18T15:00"],
    ["this evening", "2026-03-18T20:00"],
    ["tonight", "2026-03-18T22:00"],
    ["last night", "2026-03-17T15:30"],
    ["yesterday morning", "2026-03-17T06:00"],
    ["at midnight", "2026-03-18"],
    ["at noon", "2026-03-18T12:00"],
    ["yesterday at 9:15 am", "2026-03-17T09:15"],
    ["5 PM tomorrow", "2026-03-19T17:00"],
    ["at 6 Elm Street"],
  ]);
});

describe("amounts count from the date that follows them:", () => {
  readsEach([
    ["two weeks before March 5, 2023", "2023-02-19"],
    ["3 months after 30 November 2023", "2024-02-29"],
    ["two days after last Monday", "2026-03-18"],
    ["the day before 5 March 2023", "2023-03-04"],
    ["2 days before yesterday", "2026-03-15T15:30"],
    ["the day after the party"],
    ["2 hours before 5pm", "2026-03-18T15:00"],
    ["the Sunday before October 25, 2022", "2022-10-23"],
    ["last Sunday before October 23, 2022", "2022-10-16"],
    ["the Friday after 16 November 2023", "2023-11-17"],
    ["the weekend before April 10, 2023", "2023-04-08"],
    ["the weekend before April 9, 2023", "2023-04-01"],
    ["the weekend after April 8, 2023", "2023-04-15"],
    ["on Monday before lunch", "2026-03-16"],
    ["last Wednesday after dinner", "2026-03-11"],
  ]);
});

describe("a signal", () => {
  test("tells the words as they are written, and whether they hold a digit", () => {
    const signals = reader.read("From  Last Week and May 5, 2023?", REFERENCE, ["en"]);

    expect(signals.map(({ type, value }) => [type, value])).toEqual([
      ["RELATIVE", "Last Week"],
      ["ABSOLUTE", "May 5, 2023"],
    ]);
  });

  test("keeps the microseconds of the reference with its time of day", () => {
    const reference = asInstant("2026-03-18T15:30:00.123456Z");
    const resolved = (text: string) => reader.read(text, reference, ["en"])[0]?.resolved;

    expect(resolved("yesterday")).toBe(asInstant("2026-03-17T15:30:00.123456Z"));
    expect(resolved("last year")).toBe(asInstant("2025-03-18T15:30:00.123456Z"));
    expect(resolved("Monday")).toBe(asInstant("2026-03-16T00:00:00.000000Z"));
  });

  test("is left out beyond the years 1 to 9999", () => {
    expect(datesOf("99999 years ago")).toEqual([]);
  });
});

describe("other languages", () => {
  test("are read when they are asked for", () => {
    const text = "Was war am 7. Mai 2023 und gestern?";

    expect(datesOf(text, REFERENCE, ["de"])).toEqual(["2023-05-07", "2026-03-17T15:30"]);
    expect(datesOf("le 7 mai 2023", REFERENCE, ["en", "fr"])).toEqual(["2023-05-07"]);
    expect(datesOf("letzten Montag 2", REFERENCE, ["de"])).toEqual(["2026-03-16"]);
  });

  test("take nothing from what English has read", () => {
    expect(datesOf("5/6/2023 and yesterday", REFERENCE, ["en", "de"])).toEqual([
      "2023-05-06",
      "2026-03-17T15:30",
    ]);
  });
});

describe("the parser", () => {
  test("gives the same dates in every time zone of the machine", () => {
    const script = `
      import { createChronoDateReader } from "./src/adapters/dates/chrono.ts";
      const reader = createChronoDateReader({ languages: ["en"], warn: console.error });
      await reader.ready();
      const reference = "2026-03-29T01:30:00.000000Z";
      const text = "an hour ago, on Monday, 29 March 2026 at 2:30, in 2 hours, 5/6/2023, last March, at noon";
      console.log(JSON.stringify(reader.read(text, reference, ["en"])));`;
    const outputs = ["UTC", "Europe/Berlin", "America/New_York", "Pacific/Kiritimati"].map((zone) =>
      Bun.spawnSync([process.execPath, "-e", script], {
        env: { ...process.env, TZ: zone },
        cwd: `${import.meta.dir}/../../..`,
      }).stdout.toString(),
    );

    expect(outputs[0]).toContain("2026-03-29T02:30:00.000000Z");
    expect(new Set(outputs).size).toBe(1);
  });
});

describe("any text", () => {
  test("is read without an error, in the years 1 to 9999 and with values that stand in it", () => {
    const piece = fc.constantFrom(
      ..."last next 2 5 week weeks ago before after May 2023 Monday the of at pm 10:30 - , in on 5th and a half".split(
        " ",
      ),
    );
    const texts = fc.array(piece, { maxLength: 12 }).map((words) => words.join(" "));
    const references = fc
      .date({ min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate: true })
      .map(fromDate);

    fc.assert(
      fc.property(fc.oneof(texts, fc.string()), references, (text, reference) => {
        for (const { value, resolved } of reader.read(text, reference, ["en"])) {
          expect(text).toContain(value);
          expect(resolved).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
        }
      }),
      { numRuns: 300 },
    );
    expect(warnings).toEqual([]);
  });
});
