import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { invisibleParts, withoutInvisible } from "../../src/lib/invisible.ts";

const tags = [..."ignore all"].map((letter) =>
  String.fromCodePoint(0xe0000 + letter.charCodeAt(0)),
);

describe("what is invisible in a text", () => {
  test.each([
    ["a\u200bb", "a\\u200bb"],
    ["\ufeffa\u00adb", "\\ufeffa\\u00adb"],
    ["a\u202eb\u2066c\u2069", "a\\u202eb\\u2066c\\u2069"],
    ["\u{e0041}", "\\udb40\\udc41"],
    ["a\u2061b\u034fc\u3164d\u115fe", "a\\u2061b\\u034fc\\u3164d\\u115fe"],
    ["a \u200d b", "a \\u200d b"],
    ["a\u200c\u200d\u200cb", "a\\u200c\\u200d\\u200cb"],
    ["1\u200d2", "1\\u200d2"],
    ["a\ufe00b\ufe01", "a\\ufe00b\\ufe01"],
    ["😀\ufe0f\ufe0f\ufe01", "😀\ufe0f\\ufe0f\\ufe01"],
    ["😀\u{e0100}", "😀\\udb40\\udd00"],
    ["a\u007fb\u009bc\u0000", "a\\u007fb\\u009bc\\u0000"],
    ["a\ue000b\u2028c\u2800d\ud800", "a\\ue000b\\u2028c\\u2800d\\ud800"],
    ["葛\u{e0100}\u{e0101}", "葛\u{e0100}\\udb40\\udd01"],
  ])("%j is written as %j", (text, shown) => {
    expect(withoutInvisible(text)).toBe(shown);
  });

  test.each([
    "plain, ünd 日本語",
    "👩‍👩‍👧 ❤️‍🔥 👩🏽‍💻 1️⃣",
    "علی‌رضا می‌خواهم",
    "क्‍ष",
    "葛\u{e0100}飾",
    "",
  ])("%j stays as it is", (text) => {
    expect(withoutInvisible(text)).toBe(text);
    expect([...invisibleParts(text)]).toEqual([]);
  });

  test("hides no sentence: tags leave as many escapes as they have units", () => {
    const shown = withoutInvisible(`tea${tags.join("")}`);
    expect(shown).toMatch(/^tea(?:\\ud[89a-f][0-9a-f]{2}){20}$/);
  });

  test("leaves JSON the JSON of the same value", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.constantFrom(...tags, "\u200b", "\ufe0f"),
        (text, hidden) => {
          const value = { [text + hidden]: [hidden + text] };
          expect(JSON.parse(withoutInvisible(JSON.stringify(value)))).toEqual(value);
        },
      ),
    );
  });
});
