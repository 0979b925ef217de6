import { expect, test } from "bun:test";
import { quotedValues, quotesTheSame } from "../../../src/domain/records/observation.ts";

test("takes what stands between double quotes, straight or curly", () => {
  const text = "The sign says \"OPEN\". A note reads “Back at 5” and 'not this'.";
  expect([...quotedValues(text)]).toEqual(["open", "back at 5"]);
});

test.each([
  ["CAFÉ Straße", "café strasse"],
  ["12-03–2026 — x", "12 03 2026 x"],
  ["  a \n b ", "a b"],
  [" .,;Total: 5.00!?. ", "total: 5.00"],
])("compares %j as %j", (quoted, value) => {
  expect([...quotedValues(`It says "${quoted}".`)]).toEqual([value]);
});

test("drops what nothing is left of, and what is too long", () => {
  expect(quotedValues(`"..." "-" "" "${"x".repeat(201)}"`).size).toBe(0);
  expect([...quotedValues(`"${"x".repeat(200)}"`)]).toEqual(["x".repeat(200)]);
});

test("two descriptions quote the same in whatever order and words, also if they quote nothing", () => {
  expect(quotesTheSame('"A" above "B"', '"b." below "a"')).toBe(true);
  expect(quotesTheSame("A dog.", "A cat.")).toBe(true);
  expect(quotesTheSame('"A"', '"A" "B"')).toBe(false);
  expect(quotesTheSame('"5"', '"6"')).toBe(false);
  expect(quotesTheSame('"5"', "five")).toBe(false);
});
