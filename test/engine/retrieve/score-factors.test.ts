import { describe, expect, test } from "bun:test";
import {
  hasUpdateWording,
  namesDate,
  type QuestionTime,
  questionTime,
  recency,
  temporalAffinity,
} from "../../../src/engine/retrieve/score/pool.ts";
import { at } from "../../contract/samples.ts";

const DAY = 86_400;

describe("recency", () => {
  const rule = { anchor: at(10 * DAY), lambda: 0.05 };

  test.each([
    { name: "the anchor", time: at(10 * DAY), gain: 1, value: 1 },
    { name: "ten days earlier", time: at(0), gain: 1, value: Math.exp(-0.5) },
    { name: "ten days earlier, with a gain", time: at(0), gain: 1.5, value: 1.5 * Math.exp(-0.5) },
    { name: "ten days earlier, with a gain above 1", time: at(0), gain: 2, value: 1 },
    { name: "later than the anchor", time: at(20 * DAY), gain: 1, value: 1 },
  ])("of $name", ({ time, gain, value }) => {
    expect(recency(time, rule, gain)).toBeCloseTo(value, 12);
  });

  test("of a later time is that of the anchor under a negative rate too", () => {
    expect(recency(at(20 * DAY), { ...rule, lambda: -0.05 }, 1)).toBe(1);
  });
});

describe("temporal affinity", () => {
  const window = { timeFrom: at(10 * DAY), timeTo: at(20 * DAY) };
  const open = { timeFrom: undefined, timeTo: undefined };

  test.each([
    { name: "inside the window", day: 15, given: window, near: 1 },
    { name: "at its first moment", day: 10, given: window, near: 1 },
    { name: "at its last moment", day: 20, given: window, near: 1 },
    { name: "five days before it", day: 5, given: window, near: Math.exp(-0.1) },
    { name: "ten days after it", day: 30, given: window, near: Math.exp(-0.2) },
    {
      name: "long before an open start",
      day: 1,
      given: { ...window, timeFrom: undefined },
      near: 1,
    },
    { name: "long after an open end", day: 90, given: { ...window, timeTo: undefined }, near: 1 },
    {
      name: "between the ends of a window that ends before it starts",
      day: 12,
      given: { timeFrom: at(20 * DAY), timeTo: at(10 * DAY) },
      near: Math.exp(-0.04),
    },
    {
      name: "before a single moment",
      day: 5,
      given: { timeFrom: at(10 * DAY), timeTo: at(10 * DAY) },
      near: Math.exp(-0.1),
    },
  ])("of a memory $name", ({ day, given, near }) => {
    expect(temporalAffinity("No date.", at(day * DAY), given)).toBeCloseTo(0.7 * near, 12);
    expect(temporalAffinity("In May.", at(day * DAY), given)).toBeCloseTo(0.3 + 0.7 * near, 12);
  });

  test("goes by the wording alone where the question names no time", () => {
    expect(temporalAffinity("No date.", at(0), open)).toBe(0);
    expect(temporalAffinity("In May.", at(0), open)).toBeCloseTo(0.65, 12);
  });
});

/** The names of what a question is. */
function traits(query: string): string[] {
  return Object.entries(questionTime(query, false))
    .filter(([, is]) => is)
    .map(([name]) => name);
}

describe("a question", () => {
  const rows: readonly (readonly [string, ...(keyof QuestionTime)[]])[] = [
    ["What is the current API region?", "explicitCurrent"],
    ["which server is CURRENTLY in use", "explicitCurrent"],
    ["Where do I live these  days?", "explicitCurrent"],
    ["what does she do\nright now", "explicitCurrent"],
    ["Do I own a car?", "explicitCurrent"],
    ["  Have I got a dog?", "explicitCurrent"],
    ["How often do I attend church", "explicitCurrent"],
    ["Where do I keep my keys?", "explicitCurrent"],
    ["Where do I come from?"],
    ["What did I say about it?", "episodic"],
    ["concurrently"],
    ["I know nowhere"],
    ["Who is our CTO?", "implicitCurrent"],
    ["who are the members", "implicitCurrent"],
    ["tell me who is our CTO"],
    ["What database does the team use?", "implicitCurrent", "answerClass"],
    ["What kind of new database does the team use?", "implicitCurrent", "answerClass"],
    ["What very old and big kind of database does it use?"],
    ["What tool does Ann use and what does Bob use?", "implicitCurrent"],
    ["What tool has Ann", "implicitCurrent"],
    ["What city is it", "implicitCurrent"],
    ["What café does Zoë like?", "implicitCurrent", "answerClass"],
    ["What café-bar does Zoë like?"],
    ["What is it"],
    ["What tool and plan does Ann use", "implicitCurrent"],
    ["What or which does Ann use", "implicitCurrent"],
    ["What tool does Ann use?\nAnd what does Bob use?", "implicitCurrent", "answerClass"],
    ["What did she do last time", "episodic"],
    ["the thing I just mentioned", "episodic"],
    ["how was it this evening", "episodic"],
    ["did we discuss it", "episodic"],
    ["did they discuss it"],
    ["Where did I eat recently?", "episodic"],
    ["Where did I eat most recently?", "explicitCurrent", "episodic"],
    ["what have you just now said", "explicitCurrent", "episodic"],
    ["How long have I worked here?", "neverCurrent"],
    ["when did it start", "neverCurrent"],
    ["where was I before that", "neverCurrent"],
    ["what it used to be", "neverCurrent"],
    ["it is used for baking"],
    ["What is my current job, and my job before?", "explicitCurrent", "neverCurrent"],
    ["this evenings"],
    [""],
  ];

  test.each(rows.map(([query, ...expected]) => ({ query, expected })))(
    "$query is $expected",
    ({ query, expected }) => {
      expect(traits(query)).toEqual(expected);
    },
  );

  test("after a count never asks for the present", () => {
    expect(questionTime("list all current servers", true)).toMatchObject({
      explicitCurrent: true,
      neverCurrent: true,
    });
  });
});

describe("update wording", () => {
  test.each([
    "The region changed to west.",
    "She SWITCHED\n to tea",
    "migrated from Oracle",
    "migrated to Postgres",
    "He moved  to Rome",
    "It was replaced",
    "updated to version 3",
    "The team now uses Bun",
    "it no longer works",
    "rewritten in Rust",
    "upgraded to 4",
    "the new address is 12 Elm Street",
    "Effective immediately, badges are needed",
    "changed jobs twice and is now a baker",
    "moved, and lives in Oslo now",
    "the page was updated",
    "unchanged to this day",
    "renew it is",
  ])("is in %j", (text) => {
    expect(hasUpdateWording(text)).toBe(true);
  });

  test.each([
    "",
    "The region is west",
    "It changed today",
    "It changed. It is now west",
    "It changed! Now what",
    "It changed\nand now it is west",
    `changed ${"x".repeat(80)} now`,
    "changed his mind and knows",
    "unchanged but now",
    "the new is here",
    "the new street address is here",
    "outdatedupdated",
    "updatedness",
    "replacedX",
    "no longers",
  ])("is not in %j", (text) => {
    expect(hasUpdateWording(text)).toBe(false);
  });

  test("reaches over 80 characters and no more", () => {
    expect(hasUpdateWording(`changed ${"x".repeat(78)} now`)).toBe(true);
    expect(hasUpdateWording(`changed ${"x".repeat(79)} now`)).toBe(false);
  });
});

describe("a text", () => {
  test.each([
    "in May",
    "on 3 september",
    "Sep 4",
    "at 1066-10-14 sharp",
    "at 1066/1/4",
    "4-7-21",
    "04/07/2021",
    "in 1999",
    "since 2099",
  ])("that says %j names a date", (text) => {
    expect(namesDate(text)).toBe(true);
  });

  test.each(["", "Mayor", "maybe", "marching", "12345", "20001", "1850", "2100", "3/4", "1-2-345"])(
    "that says %j names none",
    (text) => {
      expect(namesDate(text)).toBe(false);
    },
  );
});

describe("texts of 100 KB", () => {
  const fill = (piece: string) => piece.repeat(Math.ceil(100_000 / piece.length));

  test.each([
    { name: "one blank run", text: `what${fill(" ")}x` },
    { name: "one word", text: `what new ${fill("x")}` },
    { name: "words of the start of a pattern", text: `what a does ${fill("and ")}` },
    { name: "gaps that never close", text: fill("changed ") },
    { name: "names of something new", text: fill("new x ") },
    { name: "starts of dates", text: fill("1-") },
    { name: "digits", text: fill("1") },
    { name: "wide blanks", text: fill(`new${" ".repeat(500)}x${" ".repeat(500)}`) },
    { name: "broken surrogates", text: fill("\ud83d") },
  ])("of $name are read to the end", ({ text }) => {
    expect(hasUpdateWording(text)).toBe(false);
    expect(hasUpdateWording(`${text}. It was updated`)).toBe(true);
    expect(namesDate(`${text} in June`)).toBe(true);
    expect(questionTime(`${text} yesterday`, false).episodic).toBe(true);
  });
});
