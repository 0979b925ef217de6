import { describe, expect, test } from "bun:test";
import {
  isMentioned,
  isNamed,
  isPersonal,
  mentionsFirstPerson,
} from "../../../src/domain/extraction/cues.ts";
import {
  findQuote,
  Passages,
  sentencesOf,
  shortestRun,
} from "../../../src/domain/extraction/passages.ts";

describe("a quote", () => {
  const text = "“Hi,” she said. It's Anna’s book. It's Anna’s pen.";

  test("stands in a text whatever the form of its quotation marks", () => {
    expect(findQuote(text, '"Hi," she said.')).toEqual({ from: 0, to: 15 });
    expect(findQuote(text, "It’s Anna's book.")).toEqual({ from: 16, to: 33 });
  });

  test("has to have the same case and blanks, and something in it", () => {
    expect(findQuote(text, "it's Anna’s book.")).toBeUndefined();
    expect(findQuote(text, "It's  Anna’s book.")).toBeUndefined();
    expect(findQuote(text, "  ")).toBeUndefined();
  });

  test("stands for the whole text when it occurs twice", () => {
    expect(findQuote(text, "It's Anna’s")).toEqual({ from: 0, to: text.length });
  });
});

describe("the passages around a quote", () => {
  const text = "Intro.\n\nI live in Denver. But only if the job lasts. I like it.\n \nEnd.";
  const passages = new Passages(text);
  const quote = findQuote(text, "live in Denver") ?? { from: 0, to: 0 };
  const part = ({ from, to }: { from: number; to: number }) => text.slice(from, to);

  test("are its paragraph between blank lines", () => {
    expect(part(passages.paragraphAround(quote))).toBe(
      "I live in Denver. But only if the job lasts. I like it.",
    );
  });

  test("are its sentence with those that limit it", () => {
    expect(part(passages.sentencesAround(quote))).toBe(
      "I live in Denver. But only if the job lasts.",
    );
  });

  test("hold every character that is not a blank", () => {
    const odd = 'He said "Stop!" Then (really?) he left...\n\nv2.0 works. 你好。再见。 End';
    const parts = sentencesOf(odd).map(({ from, to }) => odd.slice(from, to));
    expect(parts).toEqual([
      'He said "Stop!"',
      "Then (really?)",
      "he left...",
      "v2.0 works.",
      "你好。",
      "再见。",
      "End",
    ]);
    expect(parts.join("").replace(/\s/g, "")).toBe(odd.replace(/\s/g, ""));
  });
});

describe("the text of a claim", () => {
  const passage =
    "Hi there! I live in Denver. My sister is Rachel. She works at Acme. However she may leave. Bye.";

  test.each([
    [passage, "I", "Denver", "I live in Denver."],
    [passage, "She", "Acme", "She works at Acme. However she may leave."],
    [passage, "I", "Acme", "My sister is Rachel. She works at Acme. However she may leave."],
    [passage, "I", "Chicago", undefined],
    ["We use v2.0 of Foo. It is e.g. good.", "We", "Foo", "We use v2.0 of Foo."],
  ])("of %p is the shortest run that names %s and %s", (text, subject, object, expected) => {
    const names = [subject, object].map((name) => (part: string) => isNamed(name, part, "en"));
    expect(shortestRun(text, names)).toBe(expected);
  });
});

describe("a value", () => {
  test.each([
    ["Zoë", "Zoës", false],
    ["Zoë", "with ZOË.", true],
    ["$500", "$500 for", true],
    ["500", "$5001", false],
    ["Ann", "Anna and Ann", true],
    ["北京", "我住在北京", true],
    ["user_id", "the user_id_2", false],
    ["  tea ", "Tea!", true],
    ["", "anything", false],
  ])("%p in %p as whole words: %p", (value, text, expected) => {
    expect(isMentioned(value, text)).toBe(expected);
  });

  test.each([
    ["I", "my sister", "en", true],
    ["my", "I agree", "en", true],
    ["I", "a file, i.e. this one", "en", false],
    ["we", "our house", "en", false],
    ["I", "meine Schwester", "de", true],
    ["ich", "Mein Auto", "de", true],
    ["yo", "mi coche", "es", true],
    ["yo", "Vivo en Sevilla.", "es", true],
    ["yo", "El gato come pescado.", "es", false],
    ["I", "5 mi away", "en", false],
  ] as const)("%p for the speaker of %p (%s): %p", (value, text, language, expected) => {
    expect(isNamed(value, text, language)).toBe(expected);
  });

  test("is personal unless it is a thing of that name", () => {
    expect(isPersonal("They")).toBe(true);
    expect(isPersonal("It", "technology")).toBe(false);
    expect(isPersonal("Clara")).toBe(false);
    expect(mentionsFirstPerson("Nothing here.", "en")).toBe(false);
  });
});
