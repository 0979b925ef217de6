import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { planQuestion } from "../../src/domain/quantity.ts";
import { processorMs } from "../processor-time.ts";

/** Each accepted verb form with the predicates that it stands for. */
const FAMILIES: readonly (readonly [forms: readonly string[], prefixes: string])[] = [
  [["complete", "completed"], "complete completed completing"],
  [["consume", "consumed"], "consume consumed consuming"],
  [["donate", "donated"], "donate donated donating"],
  [["drink", "drank"], "drink drank drinking"],
  [["earn", "earned"], "earn earned earning"],
  [["lift", "lifted"], "lift lifted lifting"],
  [["pay", "paid"], "pay paid paying"],
  [["process", "processed"], "process processed processing"],
  [["raise", "raised"], "raise raised raising help_raise helped_raise helping_raise"],
  [["run", "ran"], "run ran running"],
  [["ship", "shipped"], "ship shipped shipping"],
  [["spend", "spent"], "spend spent spending"],
];
const ACTIONS = FAMILIES.flatMap(([forms, prefixes]) =>
  forms.map((action) => ({ action, prefixes: prefixes.split(" ") })),
);

const UNITS = [
  ..."amps amperes bytes centimeters files gallons grams items kilograms kilometers liters meters".split(
    " ",
  ),
  ..."miles milligrams milliliters millimeters packages people records requests tasks tickets".split(
    " ",
  ),
  ..."units users volts watts".split(" "),
];

const AMOUNT_SHAPES = [
  "how much did SUBJECT ACTION",
  "how much money did SUBJECT ACTION",
  "what is the total SUBJECT ACTION",
  "what is the total amount SUBJECT ACTION",
  "what's the total SUBJECT ACTION",
  "what's the total amount SUBJECT ACTION",
  "what’s the total SUBJECT ACTION",
];

describe.each(ACTIONS)("the verb $action", ({ action, prefixes }) => {
  test.each(AMOUNT_SHAPES)("is understood in: %s", (shape) => {
    for (const subject of ["I", "we"] as const) {
      const question = shape.replace("SUBJECT", subject).replace("ACTION", action);
      expect(planQuestion(question)).toEqual({
        status: "ready",
        reason: "matched_amount_question",
        action,
        subject,
        predicatePrefixes: prefixes,
        units: [],
      });
    }
  });

  test("is understood with each unit of a count", () => {
    for (const unit of UNITS) {
      expect(planQuestion(`How many ${unit} did we ${action}?`)).toEqual({
        status: "ready",
        reason: "matched_count_question",
        action,
        subject: "we",
        predicatePrefixes: prefixes,
        units: [unit],
      });
    }
  });
});

describe("spelling", () => {
  test.each([
    "HOW MUCH DID I SPEND",
    "  how\tmuch  did i\nspend  ",
    "How much did I spend?",
    "How much did I spend!",
    "How much did I spend.",
    "How much did I spend ? ",
  ])("%j is understood", (question) => {
    expect(planQuestion(question)).toMatchObject({
      status: "ready",
      action: "spend",
      subject: "I",
    });
  });

  test.each([
    "How much did I spend??",
    "How much did I spend?!",
    "“How much did I spend”",
    "- how much did I spend",
  ])("%j is not", (question) => {
    expect(planQuestion(question)).toMatchObject({ status: "unsupported" });
  });
});

describe("a question of another shape", () => {
  test.each([
    "How much did I spend last year?",
    "How much did I spend on books?",
    "How much did I raise for charity?",
    "How much did I not spend?",
    "How much didn't I spend?",
    "How much will I spend?",
    "How much do I spend?",
    "How much have I spent?",
    "How much did Anna spend?",
    "How much did they spend?",
    "How much did I and Anna spend?",
    "How much did I spend and earn?",
    "How much exactly did I spend?",
    "How much money money did I spend?",
    "How many did I run?",
    "How many blue items did I ship?",
    "What is the total?",
    "What is the sum I spent?",
    "What was the total I spent?",
    "What is the total amount of money I spent?",
    "what is total I spent",
    "How much did I",
    "did I spend",
    "spend",
    "5",
    "?",
    "How much did I 5?",
    "How many 5s did I run?",
    "How many -miles did I run?",
  ])("%j is unsupported and names no verb", (question) => {
    expect(planQuestion(question)).toEqual({
      status: "unsupported",
      reason: "unsupported_shape",
      action: undefined,
    });
  });
});

test.each(["mile", "dollars", "steps", "km", "item", "hours", "mile-long", "users'"])(
  "a count in %s has no known unit",
  (unit) => {
    expect(planQuestion(`How many ${unit} did I Run?`)).toEqual({
      status: "unsupported",
      reason: "unsupported_unit",
      action: "run",
    });
  },
);

test.each(["save", "spends", "spending", "runs", "running", "didn't", "help-raise", "donates"])(
  "the verb %s is unknown",
  (action) => {
    const unsupported = { status: "unsupported", reason: "unsupported_action", action } as const;
    expect(planQuestion(`How much did I ${action}?`)).toEqual(unsupported);
    expect(planQuestion(`How many miles did we ${action}?`)).toEqual(unsupported);
  },
);

test("an unknown unit is reported before an unknown verb", () => {
  expect(planQuestion("How many steps did I save?")).toMatchObject({ reason: "unsupported_unit" });
});

test("one word more, anywhere, makes every question unsupported", () => {
  const words = fc.constantFrom(
    "not",
    "last",
    "Anna",
    "the",
    "about",
    "please",
    "net",
    "ever",
    "money",
    "i",
  );
  const base = fc.constantFrom(
    "how much did i spend",
    "what's the total amount we raised",
    "how many miles did i run",
    "what is the total we drank",
  );
  fc.assert(
    fc.property(base, words, fc.nat(9), (question, word, at) => {
      const parts = question.split(" ");
      const place = at % (parts.length + 1);
      const longer = [...parts.slice(0, place), word, ...parts.slice(place)].join(" ");
      // The one word that a shape has room for.
      fc.pre(longer !== "how much money did i spend");
      expect(planQuestion(longer)).toMatchObject({ status: "unsupported" });
    }),
  );
});

test("a question of a million words is refused at once", () => {
  const begun = processorMs();
  const question = `how much did I ${"spend ".repeat(1_000_000)}`;
  expect(planQuestion(question)).toMatchObject({ status: "unsupported" });
  expect(processorMs() - begun).toBeLessThan(2000);
});
