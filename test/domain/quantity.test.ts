import { describe, expect, test } from "bun:test";
import type { MemoryNode } from "../../src/domain/node.ts";
import { groundQuantity, readQuantity } from "../../src/domain/quantity.ts";
import { formatDecimal } from "../../src/lib/decimal.ts";
import type { Json } from "../../src/lib/json.ts";
import { processorMs } from "../processor-time.ts";

type Case = {
  readonly said: string;
  readonly value: string;
  readonly unit: string;
  readonly text: string;
  /** Default: `said`. */
  readonly object?: string;
};

/** The value that the texts bear out. */
function grounded({ said, value, unit, text, object = said }: Case): string | undefined {
  const amount = { value, unit, sourceText: text };
  const quantity = groundQuantity(amount, { passage: said, object });
  return quantity && formatDecimal(quantity.value);
}

describe("an amount is borne out", () => {
  test.each<Case & { readonly expected?: string }>([
    { said: "I raised $500 for the shelter.", value: "500", unit: "$", text: "$500" },
    { said: "I paid 1,500 USD", value: "1500", unit: "USD", text: "1,500 USD" },
    { said: "I paid 1,234,567.50 usd", value: "1234567.5", unit: "USD", text: "1,234,567.50 usd" },
    { said: "I used .5 kg", value: "0.5", unit: "kg", text: ".5 kg" },
    { said: "I used .5 kg", value: ".50", unit: "kg", text: ".5 kg", expected: "0.50" },
    { said: "I lifted 5kg", value: "5", unit: "kg", text: "5kg" },
    { said: "It was 50%", value: "50", unit: "%", text: "50%" },
    { said: "It was -5 degrees", value: "-5", unit: "degrees", text: "-5 degrees" },
    { said: "It was +5 degrees", value: "5", unit: "degrees", text: "+5 degrees" },
    { said: "It was 5 °C", value: "5", unit: "°C", text: "5 °C" },
    { said: "I ran 5 m²", value: "5", unit: "m²", text: "5 m²" },
    { said: "It was over, I gave $500.", value: "500", unit: "$", text: "$500" },
    { said: "Was it about? $500.", value: "500", unit: "$", text: "$500" },
    { said: "Nearly there; 5 miles", value: "5", unit: "miles", text: "5 miles" },
    { said: "it was around\n5 miles", value: "5", unit: "miles", text: "5 miles" },
    { said: "My score is 42.", value: "42", unit: "1", text: "42" },
    { said: "My score is 1,042", value: "1042", unit: "1", text: "1,042" },
    { said: "A roundabout 5 miles on", value: "5", unit: "miles", text: "5 miles" },
    { said: "I sent $5 to Ann", value: "5", unit: "$", text: "$5" },
    { said: "I ran 5 miles - it rained", value: "5", unit: "miles", text: "5 miles" },
    { said: "of ‘5 miles’ I ran", value: "5", unit: "miles", text: "'5 miles'" },
    { said: "a 6” board", value: "6", unit: '"', text: '6"', object: "6” board" },
    { said: "I ran 5 miles, then about 5 miles", value: "5", unit: "miles", text: "5 miles" },
    { said: "$500, of which $50 left", value: "50", unit: "$", text: "$50" },
    { said: "pre-5 kg", value: "5", unit: "kg", text: "5 kg" },
    {
      said: "I ran 1000 meters",
      value: "1e3",
      unit: "meters",
      text: "1000 meters",
      expected: "1000",
    },
    {
      said: "between us it cost us all of it and so much more, $5",
      value: "5",
      unit: "$",
      text: "$5",
    },
  ])("$said / $text / $unit", ({ expected, ...given }) => {
    expect(grounded(given)).toBe(expected ?? given.value);
  });
});

describe("an amount is not borne out", () => {
  const CUES =
    "about approximately around roughly nearly almost circa estimate estimated between from over under".split(
      " ",
    );
  const PAIRS = [
    "up to",
    "more than",
    "less than",
    "no more than",
    "no less than",
    "at least",
    "at most",
  ];

  test.each([...CUES, ...PAIRS])("behind the word %s, within the text or before it", (cue) => {
    const amount = { value: "500", unit: "$", text: "$500" };
    expect(grounded({ ...amount, said: `I raised exactly $500` })).toBe("500");
    expect(grounded({ ...amount, said: `I raised ${cue} $500` })).toBeUndefined();
    expect(
      grounded({ ...amount, said: `${cue.toUpperCase().replace(" ", "  ")} $500` }),
    ).toBeUndefined();
    const within = `${cue} $500`;
    expect(
      grounded({ said: `I raised ${within}`, value: "500", unit: "$", text: within }),
    ).toBeUndefined();
  });

  test.each([..."~≈<>−±"])("behind the sign %s, within the text or before it", (sign) => {
    const said = `I ran ${sign} 5 miles`;
    expect(grounded({ said, value: "5", unit: "miles", text: "5 miles" })).toBeUndefined();
    expect(grounded({ said, value: "5", unit: "miles", text: `${sign} 5 miles` })).toBeUndefined();
  });

  test.each<Case>([
    // Ranges, also those of which the text is one end only.
    { said: "I ran 5-10 miles", value: "10", unit: "miles", text: "10 miles" },
    { said: "I ran 5 – 10 miles", value: "10", unit: "miles", text: "10 miles" },
    { said: "I ran 3 to 5 miles", value: "5", unit: "miles", text: "5 miles" },
    { said: "I paid $3 to $5", value: "5", unit: "$", text: "$5" },
    { said: "I paid $3 to $5", value: "3", unit: "$", text: "$3" },
    // What reads like a range is taken for one.
    { said: "I sent $5 to 3 people", value: "3", unit: "people", text: "3 people" },
    { said: "I paid $3—$5", value: "3", unit: "$", text: "$3" },
    { said: "I ran 5 miles - 10 miles", value: "5", unit: "miles", text: "5 miles" },
    { said: "between 3 and 5 miles", value: "5", unit: "miles", text: "5 miles" },
    { said: "between 1,000 and $2,000", value: "2000", unit: "$", text: "$2,000" },
    { said: "I ran 5-10 miles", value: "5", unit: "miles", text: "5-10 miles" },
    // More than one number, or none.
    { said: "12 files and 3 folders", value: "12", unit: "files", text: "12 files and 3 folders" },
    { said: "five miles", value: "5", unit: "miles", text: "five miles" },
    { said: "5½ miles", value: "5", unit: "miles", text: "5½ miles" },
    { said: "5 ٣ miles", value: "5", unit: "miles", text: "5 ٣ miles" },
    // What is no number of the grammar.
    { said: "1,5 kg", value: "1.5", unit: "kg", text: "1,5 kg" },
    { said: "12,34 kg", value: "1234", unit: "kg", text: "12,34 kg" },
    { said: "1e3 units", value: "1000", unit: "units", text: "1e3 units" },
    { said: "1.2.3 kg", value: "1.2", unit: "kg", text: "1.2.3 kg" },
    { said: "5. kg", value: "5", unit: "kg", text: "5. kg" },
    { said: "v5 kg", value: "5", unit: "kg", text: "v5 kg" },
    { said: "costs ($500)", value: "500", unit: "$", text: "($500)" },
    // The number is another one.
    { said: "I paid $500", value: "501", unit: "$", text: "$500" },
    { said: "I paid $500", value: "500.01", unit: "$", text: "$500" },
    { said: "I paid $500", value: "five", unit: "$", text: "$500" },
    { said: "I paid $500", value: "50", unit: "$", text: "$50" },
    { said: "I paid $1,500", value: "500", unit: "1", text: "500" },
    { said: "I paid 500.25", value: "500", unit: "1", text: "500" },
    { said: "I paid 0.5 kg", value: "5", unit: "kg", text: "5 kg" },
    { said: "It was -5 degrees", value: "5", unit: "degrees", text: "5 degrees" },
    { said: "mp5 kg", value: "5", unit: "kg", text: "5 kg" },
    // The unit is another one.
    { said: "I got 3", value: "3", unit: "points", text: "3" },
    { said: "I got 3 points", value: "3", unit: "1", text: "3 points" },
    { said: "I got $500", value: "500", unit: "dollars", text: "$500" },
    { said: "I got 5 kgs", value: "5", unit: "kg", text: "5 kgs" },
    { said: "I got 5 €", value: "5", unit: "$", text: "5 €" },
    { said: "I got 55 kg", value: "55", unit: "5", text: "55 kg" },
    // The words are not there.
    { said: "I paid $500", value: "500", unit: "$", text: "$ 500" },
    { said: "I paid $500", value: "500", unit: "$", text: "$500", object: "the bill" },
    { said: "the bill", value: "500", unit: "$", text: "$500", object: "$500" },
    { said: "I paid 5 Miles", value: "5", unit: "miles", text: "5 miles" },
  ])("$said / $text / $value $unit", (given) => {
    expect(grounded(given)).toBeUndefined();
  });

  test("by what follows within 24 characters, not by what follows later", () => {
    const amount = { value: "5", unit: "kg", text: "5 kg" };
    const blanks = (count: number) => " ".repeat(count);
    expect(grounded({ ...amount, said: `5 kg${blanks(22)}-9` })).toBeUndefined();
    expect(grounded({ ...amount, said: `5 kg${blanks(23)}-9` })).toBe("5");
  });

  test("by a word within 48 characters before it, not by one further away", () => {
    const amount = { value: "5", unit: "kg", text: "5 kg" };
    const blanks = (count: number) => " ".repeat(count);
    expect(grounded({ ...amount, said: `about${blanks(43)}5 kg` })).toBeUndefined();
    expect(grounded({ ...amount, said: `about${blanks(44)}5 kg` })).toBe("5");
  });

  test("by a range that begins within 40 characters before it", () => {
    const amount = { value: "5", unit: "kg", text: "5 kg" };
    expect(grounded({ ...amount, said: `between ${"x".repeat(30)} and 5 kg` })).toBeUndefined();
    expect(grounded({ ...amount, said: `between ${"x".repeat(41)} and 5 kg` })).toBe("5");
  });
});

describe("readQuantity", () => {
  const STORED = {
    value: "500",
    unit: "$",
    source_text: "$500",
    grounding: "object_decimal_v1",
  };
  const nodeOf = (metadata: Readonly<Record<string, Json>>, content = "I raised $500.") =>
    // SAFETY: text and metadata are all that is read.
    ({ content, metadata }) as unknown as MemoryNode;
  const read = (quantity: Json, metadata: Readonly<Record<string, Json>> = {}) =>
    readQuantity(nodeOf({ ...metadata, quantity }), "$500");

  test("gives the value with its places, unit and words, trimmed", () => {
    const stored = { ...STORED, value: " 500.00 ", unit: " $ ", source_text: " $500 " };
    expect(read(stored)).toEqual({
      value: { coefficient: 50_000n, exponent: -2 },
      unit: "$",
      sourceText: "$500",
    });
  });

  test("is missing where there is none", () => {
    expect(read(null)).toBe("missing");
    expect(readQuantity(nodeOf({}), "$500")).toBe("missing");
  });

  test.each<[string, Json]>([
    ["text", "500"],
    ["a list", [STORED]],
    ["false", false],
    ["an empty object", {}],
    ["another grounding", { ...STORED, grounding: "guess" }],
    ["no grounding", { ...STORED, grounding: null }],
    ["a number as value", { ...STORED, value: 500 }],
    ["a blank unit", { ...STORED, unit: "  " }],
    ["no words", { ...STORED, source_text: "" }],
    ["an infinite value", { ...STORED, value: "Infinity" }],
    ["39 digits", { ...STORED, value: `500.${"0".repeat(36)}` }],
    ["a value of more than 200 characters", { ...STORED, value: `${"0".repeat(198)}500` }],
    ["a unit of more than 100 characters", { ...STORED, unit: "$".repeat(101) }],
    ["words of more than 500 characters", { ...STORED, source_text: `$500${" x".repeat(250)}` }],
  ])("%s is invalid", (_, quantity) => {
    expect(read(quantity)).toBe("invalid");
  });

  test("reads the quote before the text of the memory, unless it is blank or no text", () => {
    expect(read(STORED, { evidence_quote: "I raised about $500." })).toBe("invalid");
    expect(read(STORED, { evidence_quote: "I raised $500." })).toMatchObject({ unit: "$" });
    expect(read(STORED, { evidence_quote: " " })).toMatchObject({ unit: "$" });
    expect(read(STORED, { evidence_quote: null })).toMatchObject({ unit: "$" });
  });

  test("counts characters, not halves of them", () => {
    const unit = `x${"😀".repeat(99)}`;
    const text = `5 ${unit}`;
    const stored = { ...STORED, value: "5", unit, source_text: text };
    expect(readQuantity(nodeOf({ quantity: stored }, text), text)).toMatchObject({ unit });
  });

  test("a long text of digits is read in a moment", () => {
    const digits = "5".repeat(200_000);
    const stored = { ...STORED, value: "5", unit: "1", source_text: "5" };
    const begun = processorMs();
    expect(readQuantity(nodeOf({ quantity: stored }, digits), "5")).toBe("invalid");
    expect(processorMs() - begun).toBeLessThan(2000);
  });
});
