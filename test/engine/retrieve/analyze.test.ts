import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createChronoDateReader } from "../../../src/adapters/dates/chrono.ts";
import type { QueryIntent } from "../../../src/domain/enums.ts";
import {
  type AnalysisContext,
  analyze,
  languagesOfDates,
} from "../../../src/engine/retrieve/analyze.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import type { DateReader } from "../../../src/ports/models.ts";
import { processorMs } from "../../processor-time.ts";

const dates = createChronoDateReader({ languages: ["en"], warn: () => {} });
beforeAll(() => dates.ready());

const CONTEXT: AnalysisContext = {
  dates,
  intentOrder: "entity_first",
  languages: ["en"],
  referenceTime: asInstant("2026-03-18T15:30:00.000000Z"),
  timeFrom: undefined,
  timeTo: undefined,
  mode: "default",
};

function read(query: string, given: Partial<AnalysisContext> = {}) {
  return analyze(query, { ...CONTEXT, ...given });
}

/** A reader that finds one date in every text, and remembers the texts. */
function countingReader(value: string): DateReader & { readonly texts: string[] } {
  const texts: string[] = [];
  return {
    ready: async () => {},
    read: (text, resolved) => {
      texts.push(text);
      return [{ type: "RELATIVE", value, resolved, from: resolved, until: resolved }];
    },
    texts,
  };
}

describe("the intent", () => {
  const BOTH: readonly [query: string, intent: QueryIntent][] = [
    ["who called", "entity_lookup"],
    ["  What  is tea", "entity_lookup"],
    ["what are the options", "entity_lookup"],
    ["whoever called", "semantic"],
    ["is Ann Lee here", "entity_lookup"],
    ["when was the last call", "temporal"],
    ["Yesterday", "temporal"],
    ["tea on 5/6/2023", "temporal"],
    ["things related to tea", "relational"],
    ["the walk between  the lakes", "relational"],
    ["how do we brew", "factual"],
    ["what does it cost, and is it related to tea", "relational"],
    ["is it   true that it rains", "factual"],
    ["green tea", "semantic"],
    ["whenever lastly", "semantic"],
    ["the_last_one", "semantic"],
    ["", "semantic"],
  ];

  test.each(BOTH)("of %j is %s in either order", (query, intent) => {
    expect(read(query).intent).toBe(intent);
    expect(read(query, { intentOrder: "temporal_first" }).intent).toBe(intent);
  });

  const DIFFERENT: readonly [
    query: string,
    entityFirst: QueryIntent,
    temporalFirst: QueryIntent,
  ][] = [
    ["who called yesterday", "entity_lookup", "temporal"],
    ["when did Ann Lee call", "entity_lookup", "temporal"],
    ["what is due on 5 May", "entity_lookup", "temporal"],
    ["Who is June dating?", "entity_lookup", "entity_lookup"],
    ["Who met June on 5 May?", "entity_lookup", "temporal"],
  ];

  test.each(DIFFERENT)("of %j is %s, or %s where time comes first", (query, first, second) => {
    expect(read(query).intent).toBe(first);
    expect(read(query, { intentOrder: "temporal_first" }).intent).toBe(second);
  });
});

describe("entities", () => {
  const ENTITIES: readonly [query: string, entities: readonly string[]][] = [
    ["When Did Ann Lee call", ["Did Ann Lee"]],
    ["my iPhone and McDonald", ["Phone", "Mc", "Donald"]],
    ["Ann called. Bob did not, Carl did", ["Carl"]],
    ["Ann Lee called", ["Lee"]],
    ["is it so?\nAnn said yes", []],
    ["the API and IBM", []],
    ["to Élodie and Ångström", []],
    ["about \"green tea\" and 'black tea'", ["green tea", "black tea"]],
    ["of Ann and \"Ann\" and 'Bob'", ["Ann", "Bob"]],
    ["Ann's cat and the dogs' bowl", []],
    ["the 1990's and '80s'", ["80s"]],
    ['with Ann and Ann and " "', ["Ann"]],
  ];

  test.each(ENTITIES)("of %j are %j", (query, entities) => {
    expect(read(query).entities).toEqual(entities as string[]);
  });

  test("are 64 at most", () => {
    const names = Array.from({ length: 100 }, (_, index) => `'name ${index}'`).join(" ");

    expect(read(names).entities).toHaveLength(64);
  });
});

describe("a question for all of them", () => {
  const AGGREGATION: readonly [query: string, isAggregation: boolean][] = [
    ["How many times did I run?", true],
    ["How many museums did I visit in the last 3 months?", true],
    ["HOW   MUCH did it cost", true],
    ["how often do I run", true],
    ["list all trips", true],
    ["all of the trips", true],
    ["all the times I ran", true],
    ["what is the total", true],
    ["count my cats", true],
    ["every time it rains", true],
    ["how many hours did I sleep", true],
    ["how many days did I run. It was before May", true],
    ["How many days ago did I run?", false],
    ["How many weeks did it take before I ran", false],
    ["how many days have passed between the two", false],
    ["how much time has passed since May", false],
    ["how many   month until then", false],
    ["countess", false],
    ["account", false],
  ];

  test.each(AGGREGATION)("is %j: %p", (query, isAggregation) => {
    expect(read(query).isAggregation).toBe(isAggregation);
  });

  test("reaches 50 characters for the words that make it one for a length of time", () => {
    const between = (length: number) => `how many days${" ".padEnd(length - 1, "x")} ago`;

    expect(read(between(50)).isAggregation).toBe(false);
    expect(read(between(51)).isAggregation).toBe(true);
  });
});

describe("looking for dates", () => {
  const GATE: readonly [query: string, isLooked: boolean][] = [
    ["room 5", true],
    ["WHEN was it", true],
    ["on Monday", true],
    ["in June", true],
    ["that day", true],
    ["the last_week table", true],
    ["a fortnight", true],
    ["Which books do I like?", false],
    ["may I come in May", false],
    ["the daylight, a weekly, monthly", false],
    ["昨天我吃了什么", false],
    ["", false],
  ];

  test.each(GATE)("in %j: %p", (query, isLooked) => {
    const reader = countingReader("Monday");

    expect(languagesOfDates(query, ["en"])).toEqual(isLooked ? ["en"] : undefined);
    expect(read(query, { dates: reader }).temporalSignals).toHaveLength(isLooked ? 1 : 0);
    expect(reader.texts).toEqual(isLooked ? [query] : []);
  });

  const LANGUAGES: readonly [query: string, languages: readonly string[] | undefined][] = [
    ["Was haben wir gestern gemacht?", ["de"]],
    ["Quand est mon anniversaire ?", ["fr"]],
    ["昨日は何を食べましたか", ["ja"]],
    ["What did we do yesterday?", ["en"]],
    ["Montag?", ["de"]],
    ["Anna?", undefined],
  ];

  test.each(LANGUAGES)("the dates of %j are read in %p", (query, languages) => {
    expect(languagesOfDates(query, ["en"])).toEqual(languages);
  });

  test("other languages of the settings are read after that of the question, English not", () => {
    expect(languagesOfDates("Was war gestern?", ["en", "sv", "de"])).toEqual(["de", "sv"]);
    expect(languagesOfDates("Was war gestern?", [])).toEqual([]);
    expect(languagesOfDates("What was on Monday?", ["en", "sv"])).toEqual(["en", "sv"]);
  });

  test("a question in another language has the dates of that language", async () => {
    await dates.ready(["de"]);
    await dates.ready(["fr"]);
    const values = (query: string) => read(query).temporalSignals.map(({ value }) => value);

    expect(values("Was haben wir gestern gegessen?")).toEqual(["gestern"]);
    expect(values("Was war am letzten Montag im Büro los?")).toEqual(["am letzten Montag"]);
    expect(values("Quand est mon anniversaire ?")).toEqual([]);
    expect(read("Was haben wir gestern gegessen?").intent).toBe("temporal");
  });

  const ALONE: readonly [value: string, isKept: boolean][] = [
    ["Yesterday", true],
    ["Sat", true],
    ["Sat.", true],
    ["June", true],
    ["tonight", true],
    ["weekend", true],
    ["3pm", true],
    ["last week", true],
    ["May", false],
    ["noon", false],
    ["now", false],
    ["gestern", false],
  ];

  test.each(ALONE)("keeps %j: %p", (value, isKept) => {
    const { temporalSignals } = read("when", { dates: countingReader(value) });

    expect(temporalSignals.map((signal) => signal.value)).toEqual(isKept ? [value] : []);
  });

  test("gives the reader the reference time and the languages", () => {
    const calls: unknown[] = [];
    const reader: DateReader = {
      ready: async () => {},
      read: (...call) => {
        calls.push(call);
        return [];
      },
    };
    read("when", { dates: reader, languages: ["de", "fr"] });

    expect(calls).toEqual([["when", CONTEXT.referenceTime, ["de", "fr"]]]);
  });
});

describe("names that look like dates", () => {
  const time = { intentOrder: "temporal_first" } as const;

  test("are no dates where time comes first, and leave the window", () => {
    const { temporalSignals, timeFrom, timeTo } = read("Who is June dating?", time);

    expect([temporalSignals, timeFrom, timeTo]).toEqual([[], undefined, undefined]);
  });

  test("stay dates where entities come first, and where more than the name stands there", () => {
    const values = (query: string, given = {}) =>
      read(query, given).temporalSignals.map(({ value }) => value);

    expect(values("Who is June dating?")).toEqual(["June"]);
    expect(values("Who met Ann in June?", time)).toEqual(["in June"]);
    expect(values("who is june dating?", time)).toEqual(["june"]);
  });
});

describe("the window", () => {
  const window = (query: string, given: Partial<AnalysisContext> = {}) => {
    const { timeFrom, timeTo } = read(query, given);
    return [timeFrom?.slice(0, 10), timeTo?.slice(0, 10)];
  };

  test("spans from the earliest to the latest date of the question", () => {
    expect(window("between 7 May 2023 and 3 May 2023 or 5 May 2023")).toEqual([
      "2023-05-03",
      "2023-05-07",
    ]);
    expect(window("on 7 May 2023")).toEqual(["2023-05-07", "2023-05-07"]);
    expect(window("some day")).toEqual([undefined, undefined]);
  });

  test("is the caller's as soon as one bound is given", () => {
    const bound = asInstant("2020-01-01T00:00:00.000000Z");

    expect(window("on 7 May 2023", { timeFrom: bound })).toEqual(["2020-01-01", undefined]);
    expect(window("on 7 May 2023", { timeTo: bound })).toEqual([undefined, "2020-01-01"]);
    expect(read("on 7 May 2023", { timeTo: bound }).temporalSignals).toHaveLength(1);
  });
});

test("an analysis repeats the question and the mode", () => {
  expect(read("green tea", { mode: "explicit" })).toEqual({
    query: "green tea",
    asked: [],
    intent: "semantic",
    entities: [],
    isAggregation: false,
    temporalSignals: [],
    timeFrom: undefined,
    timeTo: undefined,
    retrievalMode: "explicit",
  });
});

describe("a long question", () => {
  const log = "2023-05-07 ERROR total of 3 requests, how many retries left\n".repeat(30);
  const asks = "Where does Anna live?";

  test.each([
    ["behind what was pasted", `${log}${asks}`],
    ["before it", `${asks}\n${log}`],
    ["between the two, with thanks", `Hello.\n${log}${asks} Thanks a lot!`],
  ])("is read by what it asks %s", (_, query) => {
    expect(read(query)).toMatchObject({ query, isAggregation: false, temporalSignals: [] });
    expect(read(query).asked).toEqual([expect.stringContaining(asks)]);
  });

  test("has the sentence before a short one with it", () => {
    expect(read(`${log}Anna moved last year. Where to?`).asked).toEqual([
      "Anna moved last year. Where to?",
    ]);
    expect(read(`${"日志".repeat(400)}。安娜住在哪里？`).asked).toHaveLength(1);
  });

  test("without a question mark may be asked by its first or its last sentence", () => {
    expect(read(`Find Anna's address\n${log}tell me where Anna lives today`).asked).toEqual([
      "Find Anna's address",
      "tell me where Anna lives today",
    ]);
  });
});

describe("a question of 100 KB", () => {
  const SIZE = 100_000;
  const fill = (piece: string) => piece.repeat(Math.ceil(SIZE / piece.length));
  const HOSTILE: readonly string[] = [
    fill("A"),
    fill("Aa "),
    `x ${fill("Aa ")}1`,
    fill('"'),
    fill("'"),
    fill(" 'a"),
    `"${fill("a")}`,
    fill(`'a"`),
    fill("1"),
    fill("1 "),
    fill("1."),
    fill("1/2/"),
    fill("5:5 "),
    fill("555-123-1999 "),
    `how${fill(" ")}many`,
    fill("how many days "),
    fill("2 weeks and "),
    fill("May 5 "),
    fill("last "),
    fill("twenty "),
    `${fill("a")}1`,
    `1${fill(" ")}`,
    fill("😀"),
    fill("今天天气"),
    fill('" * NEAR ( '),
    fill("\u0000"),
  ];

  test.each(HOSTILE.map((query) => ({ name: JSON.stringify(query.slice(0, 14)), query })))(
    "made of $name is read within a second",
    ({ query }) => {
      const start = processorMs();
      read(query);

      expect(processorMs() - start).toBeLessThan(1000);
    },
  );

  test("has its dates read at its beginning and its end", () => {
    const filler = fill("word ");
    const { temporalSignals } = read(
      `On 5 May 2023 ${filler} 6 May 2023 ${filler} and 7 May 2023?`,
    );

    expect(temporalSignals.map(({ value }) => value)).toEqual(["On 5 May 2023", "7 May 2023"]);
  });

  test("gives a reader 2,001 characters at most, cut between words", () => {
    const reader = countingReader("Monday");
    read(fill("monday "), { dates: reader });
    const [text = ""] = reader.texts;

    expect(text.length).toBeLessThanOrEqual(2001);
    expect(new Set(text.trim().split(/\s+/))).toEqual(new Set(["monday"]));
  });
});

test("any question is read without an error, the same every time", () => {
  const piece = fc.constantFrom(
    ..."Who who when Ann 'tea' \" ' 5 May how many days ago last week June 😀 今天 * NEAR ( AND".split(
      " ",
    ),
  );
  const texts = fc.array(piece, { maxLength: 10 }).map((words) => words.join(" "));
  const orders = fc.constantFrom("entity_first" as const, "temporal_first" as const);

  fc.assert(
    fc.property(fc.oneof(texts, fc.string({ unit: "binary" })), orders, (query, intentOrder) => {
      const analysis = read(query, { intentOrder });

      expect(read(query, { intentOrder })).toEqual(analysis);
      for (const entity of analysis.entities) expect(query).toContain(entity);
      expect(analysis.timeFrom === undefined).toBe(analysis.temporalSignals.length === 0);
      if (analysis.temporalSignals.length > 0 && intentOrder === "temporal_first") {
        expect(analysis.intent).toBe("temporal");
      }
    }),
    { numRuns: 300 },
  );
});
