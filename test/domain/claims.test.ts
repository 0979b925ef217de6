import { describe, expect, test } from "bun:test";
import { normaliseClaim, normalisePredicate, readClaim } from "../../src/domain/epistemics.ts";

const WHOLE = { subject: " I ", predicate: "lives_in", object: "Berlin\n" };

describe("readClaim", () => {
  test("gives the trimmed parts, positive where nothing is said", () => {
    expect(readClaim(WHOLE)).toEqual({
      subject: "I",
      predicate: "lives_in",
      object: "Berlin",
      polarity: "positive",
    });
  });

  test.each([null, undefined, "positive", " Positive "])(
    "takes the polarity %j for positive",
    (polarity) => {
      const claim = readClaim(polarity === undefined ? WHOLE : { ...WHOLE, polarity });
      expect(claim?.polarity.toLowerCase()).toBe("positive");
    },
  );

  test.each([
    { name: "no metadata", metadata: undefined },
    { name: "empty metadata", metadata: {} },
    { name: "no subject", metadata: { predicate: "p", object: "o" } },
    { name: "a blank predicate", metadata: { ...WHOLE, predicate: " \t" } },
    { name: "a null object", metadata: { ...WHOLE, object: null } },
    { name: "a number as object", metadata: { ...WHOLE, object: 5 } },
    { name: "a list as subject", metadata: { ...WHOLE, subject: ["I"] } },
    { name: "a blank polarity", metadata: { ...WHOLE, polarity: " " } },
    { name: "a boolean polarity", metadata: { ...WHOLE, polarity: false } },
  ])("finds no claim in $name", ({ metadata }) => {
    expect(readClaim(metadata)).toBeUndefined();
  });
});

describe("normalisePredicate", () => {
  test.each([
    ["Works at", "works_at"],
    ["works-at", "works_at"],
    ["works_at", "works_at"],
    ["works  -  at", "works_at"],
    ["works__at", "works__at"],
    ["works _ at", "works___at"],
    ["-x-", "_x_"],
  ])("makes %j to %j", (text, normal) => {
    expect(normalisePredicate(text)).toBe(normal);
  });
});

test("the predicate of a claim has underscores, its other parts keep blanks and hyphens", () => {
  const claim = readClaim({
    subject: "Anna-Lena  K",
    predicate: "Lives In",
    object: "Bad-Ems  Süd",
    polarity: "NEGATIVE",
  });
  expect(claim && normaliseClaim(claim)).toEqual({
    subject: "anna-lena k",
    predicate: "lives_in",
    object: "bad-ems süd",
    polarity: "negative",
  });
});
