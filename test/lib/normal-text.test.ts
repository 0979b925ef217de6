import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { normaliseText } from "../../src/lib/text.ts";

describe("normaliseText", () => {
  test.each([
    ["New York", "new york"],
    ["  New \t\n York  ", "new york"],
    ["New\u00a0York", "new york"],
    ["ＮＥＷ　ＹＯＲＫ", "new york"],
    ["STRASSE", "strasse"],
    ["Straße", "strasse"],
    ["STRAẞE", "strasse"],
    ["cafe\u0301", "café"],
    ["ﬁle №5", "file no5"],
    ["ΝΙΚΟΣ", "νικοσ"],
    ["", ""],
    [" \u3000 ", ""],
    ["a-b_c", "a-b_c"],
    ["Ilgın", "ilgın"],
  ])("makes %j to %j", (text, normal) => {
    expect(normaliseText(text)).toBe(normal);
  });

  test("takes the same way for plain words as for all others", () => {
    const plain = fc.string({ unit: fc.constantFrom(..."aZ 09-_.,'$") });
    fc.assert(
      fc.property(plain, (text) => {
        const expected = text.trim().toLowerCase().split(/\s+/).join(" ");
        expect(normaliseText(text)).toBe(expected);
        // A character that folds to itself sends a text along the other way.
        expect(normaliseText(`é ${text}`)).toBe(`é ${expected}`.trim());
      }),
    );
  });

  test("changes nothing when it is done again", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."aßẞſıİΣς ﬁÅ①½\t\u00a0") }), (text) => {
        expect(normaliseText(normaliseText(text))).toBe(normaliseText(text));
      }),
    );
  });
});
