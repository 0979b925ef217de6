import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compareCodePoints, foldCase } from "../../src/lib/text.ts";

/** The order by code points, taken from the code points themselves. */
function byCodePoints(a: string, b: string): number {
  const [left, right] = [[...a], [...b]].map((chars) => chars.map((char) => char.codePointAt(0)!));
  for (let at = 0; at < Math.min(left!.length, right!.length); at += 1) {
    if (left![at] !== right![at]) return Math.sign(left![at]! - right![at]!);
  }
  return Math.sign(left!.length - right!.length);
}

describe("compareCodePoints", () => {
  test("sorts as the code points do", () => {
    const text = fc.string({ unit: "grapheme" });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(compareCodePoints(a, b)).toBe(byCodePoints(a, b));
      }),
    );
  });

  test.each([
    ["", "a", -1],
    ["a", "a", 0],
    ["ab", "a", 1],
    ["Z", "a", -1],
    ["\u{ffff}", "\u{10000}", -1],
    ["\u{10ffff}", "\u{e000}", 1],
  ] as const)("puts %j beside %j as %d", (a, b, order) => {
    expect(compareCodePoints(a, b)).toBe(order);
  });
});

describe("foldCase", () => {
  test.each([
    ["Straße", "STRASSE"],
    ["STRAẞE", "straße"],
    ["ΝΙΚΟΣ", "νικος"],
    ["ÉTÉ", "été"],
    ["ﬁn", "FIN"],
    ["ſo", "SO"],
  ])("makes %s equal %s", (a, b) => {
    expect(foldCase(a)).toBe(foldCase(b));
  });

  test.each([
    ["été", "ete"],
    ["resume", "résumé"],
    ["ılık", "ilik"],
  ])("keeps %s apart from %s", (a, b) => {
    expect(foldCase(a)).not.toBe(foldCase(b));
  });
});
