import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { needlesOf } from "../../../src/domain/erasure.ts";
import { rarity, share, totalRarity, weighWords } from "../../../src/domain/search/bm25.ts";
import {
  columnText,
  neighbourWords,
  ownWords,
  withWordsOf,
} from "../../../src/domain/search/turns.ts";
import { asInstant } from "../../../src/lib/instant.ts";

/** Numbers of the index: half occurrences up to some hundred. */
const frequency = fc.integer({ min: 1, max: 400 }).map((half) => half / 2);

describe("the rarity of a word", () => {
  test.each([
    { documents: 10, withWord: 1, weight: 1.8458266904983307 },
    { documents: 100_000, withWord: 7, weight: 9.497957442315371 },
    { documents: 100_000, withWord: 49_999, weight: 0.000039999600009402996 },
  ])("is $weight for $withWord of $documents documents", ({ documents, withWord, weight }) => {
    expect(rarity(documents, withWord)).toBe(weight);
  });

  test.each([
    { documents: 1, withWord: 1 },
    { documents: 4, withWord: 2 },
    { documents: 4, withWord: 4 },
  ])("is next to nothing for $withWord of $documents documents", ({ documents, withWord }) => {
    expect(rarity(documents, withWord)).toBe(1e-6);
  });
});

describe("the rarity of all words of a question", () => {
  test("is the sum over its words, those included that no document contains", () => {
    expect(totalRarity([1, 0, 7], 100)).toBe(rarity(100, 1) + rarity(100, 0) + rarity(100, 7));
    expect(rarity(100, 0)).toBeGreaterThan(rarity(100, 1));
    expect(totalRarity([], 100)).toBe(0);
  });

  test("is the score of a document of mean length that has each word once", () => {
    const words = [3, 11, 40];
    const score = words.reduce((sum, withWord) => sum + rarity(90, withWord) * share(1, 1), 0);
    expect(score / totalRarity(words, 90)).toBe(1);
  });
});

describe("the share of a word in a score", () => {
  test("is 1 for one occurrence in a document of mean length", () => {
    expect(share(1, 1)).toBe(1);
  });

  test("is 0 for a word that the document does not hold, 2.2 at most", () => {
    expect(share(0, 0.5)).toBe(0);
    expect(share(1e9, 0)).toBeCloseTo(2.2, 6);
  });

  test("grows with the frequency and falls with the length", () => {
    const length = fc.double({ min: 0, max: 50, noNaN: true });
    fc.assert(
      fc.property(frequency, length, (times, long) => {
        expect(share(times + 0.5, long)).toBeGreaterThan(share(times, long));
        expect(share(times, long + 1)).toBeLessThan(share(times, long));
      }),
    );
  });

  test("is bit for bit what packs of the first version were searched with", () => {
    expect([share(1, 0.4), share(2.5, 1.7), share(0.5, 3)]).toEqual([
      1.3253012048192772, 1.2702078521939955, 0.31428571428571433,
    ]);
  });
});

describe("the words of a question", () => {
  test("are weighed by the owner's documents, rarest first, those without documents left out", () => {
    const words = [
      { name: "common", keys: [1, 2, 3] },
      { name: "absent", keys: [] },
      { name: "rare", keys: [2] },
      { name: "as rare", keys: [9] },
    ];

    expect(weighWords(words, 40).map(({ name, rarity: weight }) => [name, weight])).toEqual([
      ["rare", rarity(40, 1)],
      ["as rare", rarity(40, 1)],
      ["common", rarity(40, 3)],
    ]);
  });
});

const same = (_: unknown, word: string): string => word;

test("a memory's own words are those of its text and the day on which it happened", () => {
  const day = asInstant("2023-05-08T13:56:00.000000Z");

  expect(ownWords("We moved to Zürich", day, same)).toEqual([
    "we",
    "moved",
    "to",
    "zurich",
    "may",
    "8",
    "2023",
  ]);
  expect(ownWords("We moved", undefined, same)).toEqual(["we", "moved"]);
});

test("of each neighbour the first 240 characters count", () => {
  expect(neighbourWords([`${"a".repeat(20)} ${"b ".repeat(109)}in out`, "next"], same)).toEqual([
    "a".repeat(20),
    ..."b ".repeat(109).trim().split(" "),
    "i",
    "next",
  ]);
});

test.each([
  { of: "plain words", piece: "parseConfig wants the C++ of the house. " },
  { of: "stems", piece: "Der Vertrag mit der Firma gilt für das Jahr in Łódź, und parseConfig. " },
  { of: "pairs", piece: "東京は日本の首都です。" },
])("$of of a long text are read in pieces, the same, while others run", async ({ piece }) => {
  const day = asInstant("2023-05-08T13:56:00.000000Z");
  const content = piece.repeat(12_000);
  const whole = [...ownWords(content, day, same)].sort();
  let turns = 0;
  let isWritten = false;
  const spin = (): void => {
    turns += 1;
    if (!isWritten) setImmediate(spin);
  };
  spin();
  const words = await withWordsOf([{ node: { content } }], same, async () =>
    ownWords(content, day, same),
  );
  isWritten = true;
  expect(turns).toBeGreaterThan(4);
  expect(columnText(words).split(" ").length).toBe(words.length);
  expect([...words].sort()).toEqual(whole);
});

async function found(
  texts: readonly string[],
  bytes: string | Uint8Array,
): Promise<readonly number[]> {
  const places = new Set<number>();
  (await needlesOf(texts)).look(
    typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes,
    places,
  );
  return [...places].sort((a, b) => a - b);
}

describe("needles", () => {
  test("are found wherever they stand, inside of each other and twice in the list too", async () => {
    const texts = ["green", "green tea", "een t", "gray", "green", "tea!"];
    expect(await found(texts, "a green tea")).toEqual([0, 1, 2, 4]);
    expect(await found(texts, "green te")).toEqual([0, 2, 4]);
    expect(await found(texts, "")).toEqual([]);
    expect(await found(["für Ölçek"], "xfür Ölçekx")).toEqual([0]);
    expect(await found(["abc"], "abcabc")).toEqual([]);
    expect((await needlesOf(texts)).longest).toBe(9);
  });

  test("cost the same however many of them begin alike", async () => {
    const texts = Array.from({ length: 20_000 }, (_, n) => `aaaaaaaaaaaaaaa${n}`);
    let reads = 0;
    const bytes = new Proxy(new Uint8Array(10_000).fill(97), {
      get: (target, name) => {
        if (name !== "length") reads += 1;
        return Reflect.get(target, name, target);
      },
    });
    expect(await found(texts, bytes)).toEqual([]);
    expect(reads).toBeLessThan(10_000 * 30);
  });
});
