import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  beginsWithSpeaker,
  namesSpeaker,
  parseSpeaker,
  SPEAKER_KEY,
  storedSpeaker,
} from "../../src/domain/speaker.ts";
import { thrown } from "./thrown.ts";

describe("parseSpeaker", () => {
  test.each([
    { name: "a plain name", given: "Ada", speaker: "Ada" },
    { name: "blanks around", given: "  Ada Lovelace\t", speaker: "Ada Lovelace" },
    { name: "another script", given: "山田太郎", speaker: "山田太郎" },
    { name: "a joined emoji", given: "👩‍💻", speaker: "👩‍💻" },
    {
      name: "200 code points outside the basic plane",
      given: "😀".repeat(200),
      speaker: "😀".repeat(200),
    },
    { name: "blanks that do not count", given: ` ${"x".repeat(200)} `, speaker: "x".repeat(200) },
    { name: "nothing", given: undefined, speaker: undefined },
    { name: "null", given: null, speaker: undefined },
  ])("reads $name", ({ given, speaker }) => {
    expect(parseSpeaker(given)).toBe(speaker);
  });

  test.each(["A\u200bda", "Ada\u{e0041}", "A\u00adda", "Ada\u2060", "Ada\ufe01", "Ada\u3164"])(
    "refuses %j for what is invisible in it",
    (given) => {
      expect(thrown(() => parseSpeaker(given))).toMatchObject({
        code: "invalid_speaker",
        message: "speaker: must not contain invisible characters",
      });
    },
  );

  test("reads a name with a joiner between its letters", () => {
    expect(parseSpeaker("علی‌رضا")).toBe("علی‌رضا");
  });

  test("keeps a stored name that was accepted once", () => {
    expect(storedSpeaker({ [SPEAKER_KEY]: "A\u200bda" })).toBe("A\u200bda");
  });

  const FORBIDDEN = "must not contain control characters, line breaks or bidirectional controls";
  test.each([
    { name: "a number", given: 7, why: "must be text" },
    { name: "an object", given: { name: "Ada" }, why: "must be text" },
    { name: "empty text", given: "", why: "must not be empty" },
    { name: "blanks only", given: " \n ", why: "must not be empty" },
    {
      name: "201 letters",
      given: "x".repeat(201),
      why: "has 201 characters; at most 200 are allowed",
    },
    {
      name: "201 emoji",
      given: "😀".repeat(201),
      why: "has 201 characters; at most 200 are allowed",
    },
    ...[
      "\u0000",
      "\n",
      "\r",
      "\t",
      "\u001b",
      "\u007f",
      "\u0085",
      "\u009f",
      "\u2028",
      "\u2029",
      "\ud800",
      "\udfff",
      "\u061c",
      "\u200e",
      "\u200f",
      "\u202a",
      "\u202b",
      "\u202c",
      "\u202d",
      "\u202e",
      "\u2066",
      "\u2067",
      "\u2068",
      "\u2069",
    ].map((char) => ({
      name: `U+${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
      given: `A${char}da`,
      why: FORBIDDEN,
    })),
  ])("refuses $name", ({ given, why }) => {
    expect(thrown(() => parseSpeaker(given))).toEqual({
      code: "invalid_speaker",
      data: { field: "speaker" },
      message: `speaker: ${why}`,
    });
  });

  test("leaves an accepted name unchanged when it is read again", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }), (text) => {
        // Graphemes hold line separators too, which are refused.
        const name = accepted(text);
        fc.pre(name !== undefined);
        expect(parseSpeaker(name)).toBe(name);
        expect(storedSpeaker({ [SPEAKER_KEY]: name })).toBe(name);
      }),
    );
  });
});

/** The name that a text is read as; undefined where it is refused. */
function accepted(text: string): string | undefined {
  try {
    return parseSpeaker(text);
  } catch {
    return undefined;
  }
}

describe("storedSpeaker", () => {
  test.each([
    [{ [SPEAKER_KEY]: "Ada" }, "Ada"],
    [{ [SPEAKER_KEY]: " Ada " }, "Ada"],
    [{ [SPEAKER_KEY]: "" }, undefined],
    [{ [SPEAKER_KEY]: "A\nda" }, undefined],
    [{ [SPEAKER_KEY]: 3 }, undefined],
    [{}, undefined],
    [undefined, undefined],
  ])("of %j is %s", (metadata, speaker) => {
    expect(storedSpeaker(metadata)).toBe(speaker);
  });
});

describe("beginsWithSpeaker", () => {
  test.each([
    { text: "Ada: hello", name: "Ada", begins: true },
    { text: "  ada: hello", name: "Ada", begins: true },
    { text: "[12:30] Ada: hello", name: "Ada", begins: true },
    { text: "(whispering) ADA: hello", name: "Ada", begins: true },
    { text: `[${"x".repeat(80)}] Ada: hello`, name: "Ada", begins: true },
    { text: `[${"x".repeat(81)}] Ada: hello`, name: "Ada", begins: false },
    { text: "[] Ada: hello", name: "Ada", begins: false },
    { text: "[a][b] Ada: hello", name: "Ada", begins: false },
    { text: "[a(b)] Ada: hello", name: "Ada", begins: false },
    { text: "[a\nb] Ada: hello", name: "Ada", begins: false },
    { text: "[a) Ada: hello", name: "Ada", begins: false },
    { text: "Ada said: hello", name: "Ada", begins: false },
    { text: "Adam: hello", name: "Ada", begins: false },
    { text: "hello Ada:", name: "Ada", begins: false },
    { text: "STRASSE: hello", name: "Straße", begins: true },
    { text: "ΝΙΚΟΣ:hello", name: "Νίκος", begins: false },
    { text: "ΝΊΚΟΣ:hello", name: "Νίκος", begins: true },
    { text: "A.a: regular expressions are text", name: "A.a", begins: true },
    { text: "Axa: regular expressions are text", name: "A.a", begins: false },
    { text: "", name: "Ada", begins: false },
  ])("text %# begins with $name: $begins", ({ text, name, begins }) => {
    expect(beginsWithSpeaker(text, name)).toBe(begins);
  });
});

test.each([
  ["What did Caroline buy?", "Caroline", true],
  ["what did CAROLINE's brother buy?", "Caroline", true],
  ["Did Ann call?", "Ann Lee", true],
  ["Did Mr Lee call?", "Ann Lee", false],
  ["How is the annual report?", "Ann", false],
  ["Is plan B good?", "B", false],
  ["", "Ann", false],
])("%j names %j: %p", (text, name, named) => {
  expect(namesSpeaker(text, name)).toBe(named);
});
