import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { analyse } from "../../src/domain/lexical-analysis.ts";
import { fromBase64Url, toBase64Url } from "../../src/lib/encoding.ts";
import { sha256Hex } from "../../src/lib/hashing.ts";
import { invisibleParts, withoutInvisible } from "../../src/lib/invisible.ts";
import {
  compareCodePoints,
  foldCase,
  normalForm,
  normaliseText,
  shellWord,
  streamSafe,
} from "../../src/lib/text.ts";

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

// To put them in order as one run would take ten minutes each, and many times the limit of a test.
const HOSTILE = {
  "alternating marks": `a${"\u0301\u0316".repeat(200_000)}`,
  "marks in descending order": `a${"\u0345\u0301\u0316\u0334".repeat(100_000)}`,
  "marks that are no accents": `a${"\u0652\u064b".repeat(200_000)}`,
  "half-width marks of Japanese": `a${"\u0301\uff9e".repeat(200_000)}`,
};

describe("the normal form of a text", () => {
  test("is that of the platform where no run of marks is long", () => {
    const text = `${"Zwölf Boxkämpfer, ｶﾞ ﬁ e\u0316\u0301 ".repeat(50)}x${"\u0301".repeat(30)}`;
    for (const form of ["NFC", "NFD", "NFKC"] as const) {
      expect(normalForm(form, text)).toBe(text.normalize(form));
    }
  });

  test("has no more than 30 marks in a row without a joiner", () => {
    const long = `a${"\u0301".repeat(1000)}b`;
    expect(
      streamSafe(long)
        .match(/\u0301+/g)
        ?.map(({ length }) => length),
    ).toEqual([...Array<number>(33).fill(30), 10]);
    expect(streamSafe(long).replaceAll("\u034f", "")).toBe(long);
  });

  for (const [name, text] of Object.entries(HOSTILE)) {
    test(`and its words are known soon for a long run of ${name}`, () => {
      expect(normaliseText(`${text} B`).slice(-2)).toBe(" b");
      expect(analyse(`${text} Blumentopf`).at(-1)).toBe("blumentopf");
    });
  }
});

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

test.each([
  ["/home/ada/memory.pack", "/home/ada/memory.pack"],
  ["a b", "'a b'"],
  ["it's", "'it'\\''s'"],
  ["$HOME", "'$HOME'"],
  ["", "''"],
])("%s is written as %s", (word, written) => {
  expect(shellWord(word)).toBe(written);
});

test("a shell reads every word back as it was", () => {
  const word = fc.string({ unit: "grapheme-ascii" }).filter((text) => !text.includes("\0"));
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 20 }), (words) => {
      const script = `printf '%s\\0' ${words.map(shellWord).join(" ")}`;
      const { stdout } = Bun.spawnSync(["/bin/sh", "-c", script]);
      expect(stdout.toString().split("\0").slice(0, -1)).toEqual(words);
    }),
    { numRuns: 25 },
  );
});

const isSurrogate = (point: number) => point >= 0xd800 && point <= 0xdfff;
const text = fc
  .array(fc.integer({ min: 0, max: 0x10ffff }).filter((point) => !isSurrogate(point)))
  .map((points) => String.fromCodePoint(...points));

test("any text comes back, written with letters, digits, hyphen and underscore only", () => {
  fc.assert(
    fc.property(text, (given) => {
      const encoded = toBase64Url(given);
      expect(encoded).toMatch(/^[A-Za-z0-9_-]*$/);
      expect(fromBase64Url(encoded)).toBe(given);
    }),
  );
});

test("the form is that of RFC 4648 with the URL-safe alphabet and without padding", () => {
  expect(toBase64Url("f")).toBe("Zg");
  expect(toBase64Url("fo")).toBe("Zm8");
  expect(toBase64Url("foobar")).toBe("Zm9vYmFy");
  expect(toBase64Url("~~?")).toBe("fn4_");
  expect(toBase64Url("")).toBe("");
  expect(fromBase64Url(toBase64Url("\uFEFFx"))).toBe("\uFEFFx");
});

test.each([
  { name: "padding", encoded: "Zg==" },
  { name: "the other alphabet", encoded: "fn4/" },
  { name: "a blank", encoded: "Zm 9v" },
  { name: "a line break", encoded: "Zm9v\n" },
  { name: "one character alone", encoded: "Zm9vY" },
  { name: "left-over bits", encoded: "Zh" },
  { name: "bytes that are no UTF-8", encoded: "_w" },
])("$name is not read", ({ encoded }) => {
  expect(fromBase64Url(encoded)).toBeUndefined();
});

test("sha256Hex matches the published digest of abc", () => {
  expect(sha256Hex("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

test("sha256Hex hashes the UTF-8 bytes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(sha256Hex(text)).toBe(createHash("sha256").update(text, "utf8").digest("hex"));
    }),
  );
});

test("sha256Hex of bytes hashes the bytes themselves", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(sha256Hex(bytes)).toBe(createHash("sha256").update(bytes).digest("hex"));
    }),
  );
});
