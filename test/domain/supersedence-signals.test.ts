import { describe, expect, test } from "bun:test";
import { givenUp } from "../../src/domain/retirement.ts";
import { processorMs } from "../processor-time.ts";

const retiredTerms = (text: string) => [...new Set(givenUp(text).flatMap(({ terms }) => terms))];

describe("what a text says was given up", () => {
  const CASES: readonly (readonly [text: string, terms: readonly string[]])[] = [
    ["We migrate from Oracle to Postgres.", ["oracle"]],
    ["We migrated Oracle to Postgres.", ["oracle"]],
    ["I switch Vim to Helix", ["vim"]],
    ["SWITCHED FROM Postgres TO SQLite", ["postgres"]],
    ["I move from Berlin to Denver", ["berlin"]],
    ["She moved Berlin to Denver", ["berlin"]],
    ["replace Jenkins with Buildkite", ["jenkins"]],
    ["They replaced jQuery with nothing", ["jquery"]],
    ["(switched from C++ to Rust)", ["c++"]],
    ["We've-migrated from A1 to B2", ["a1"]],
    ["switched  from\tRed   Hat  to Debian", ["red hat", "red", "hat"]],
    ["replaced the old cache with Redis", ["the old cache", "old", "cache"]],
    ["moved to Denver to work", ["to denver", "denver"]],
    ["moved from Bonn to Rome and switched tea to coffee", ["bonn", "tea"]],
    ["replaced Vue with React, switched npm to bun", ["npm", "vue"]],
    ["switched from Postgres to\nSQLite", ["postgres"]],
    ["zog um: switched from Äpfel to Birnen", ["äpfel"]],
  ];
  test.each(CASES)("of %j is %j", (text, terms) => {
    expect([...retiredTerms(text)].sort()).toEqual([...terms].sort());
  });

  const NAMELESS: readonly (readonly [text: string])[] = [
    ["We are no longer using Postgres"],
    ["Postgres is no longer used"],
    ["I no longer use Vim"],
    ["The v1 API is deprecated"],
    ["I went back to tea"],
    ["I came, and went back from Rome"],
    ["We abandoned the plan"],
    ["Node 16 was phased out"],
    ["We phase out cash"],
    ["Flash is obsolete"],
    ["The fax is now retired"],
    ["I moved to Denver"],
    ["I moved the sofa"],
    ["switched from Postgres to"],
    ["replaced with care"],
    ["switched to SQLite"],
    ["replaced Postgres to SQLite"],
    ["switched from Postgres with SQLite"],
    ["unmoved Postgres to see"],
    ["movers Postgres to see"],
    ["switched from\nPostgres to SQLite"],
    ["moved from the to SQLite"],
    [""],
  ];
  test.each(NAMELESS)("of %j is nothing", (text) => {
    expect(retiredTerms(text)).toEqual([]);
  });

  test("is no name of more than 200 characters", () => {
    expect(retiredTerms(`switched ${"x".repeat(198)} to y`)).toEqual(["x".repeat(198)]);
    expect(retiredTerms(`switched ${"x".repeat(250)} to y`)).toEqual([]);
  });

  test("is found in a megabyte of signals without end in a moment", () => {
    const start = processorMs();

    expect(retiredTerms("switched   from   ".repeat(60_000))).toEqual([]);
    expect(retiredTerms("switched tea to b ".repeat(60_000))).toEqual(["tea"]);

    expect(processorMs() - start).toBeLessThan(2000);
  });
});
