import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { porterStem, snowball } from "../../../src/adapters/stemming/stem.ts";
import { FUNCTION_WORDS, SIGN_WORDS, STEMMED_LANGUAGES } from "../../../src/domain/language.ts";
import { analyse } from "../../../src/domain/lexical-analysis.ts";
import { stemsOf } from "../../../src/domain/stemmed-words.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";

/** Packs are indexed by the stems: those that change need a step that indexes all texts again. */
const DIGEST = "75c6107ac3c5d19b229072f74a9d4725c9380af1c0fca24ddc8527346975f318";

test("stems do not change", () => {
  const words = [...Object.values(FUNCTION_WORDS), ...Object.values(SIGN_WORDS)]
    .join(" ")
    .split(/\s+/);
  const stems = STEMMED_LANGUAGES.flatMap((language) =>
    words.map((word) => snowball(language, word.toLowerCase())),
  );
  // Texts of all degrees of certainty.
  const texts = words.map((_, at) => words.slice(at, at + 1 + (at % 6)).join(" "));
  const indexed = texts.map((text) => stemsOf(text, analyse(text), snowball));
  expect(sha256Hex(JSON.stringify([FUNCTION_WORDS, SIGN_WORDS, stems, indexed]))).toBe(DIGEST);
});

test.each([
  ["de", "häusern", "haus"],
  ["fr", "chevaux", "cheval"],
  ["es", "canciones", "cancion"],
  ["it", "abitava", "abit"],
  ["pt", "trabalhava", "trabalh"],
  ["nl", "huizen", "huiz"],
  ["ru", "собаками", "собак"],
] as const)("%s: the stem of %p is %p", (language, word, stem) => {
  expect(snowball(language, word)).toBe(stem);
});

/** The terms that FTS5 indexes for words. */
function indexed(words: readonly string[]): readonly string[] {
  const database = new Database(":memory:");
  try {
    database.run(
      `CREATE VIRTUAL TABLE words USING fts5 (word, tokenize="porter unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'")`,
    );
    database.run("CREATE VIRTUAL TABLE terms USING fts5vocab (words, instance)");
    const insert = database.query("INSERT INTO words (rowid, word) VALUES (?, ?)");
    database.transaction(() => {
      for (const [row, word] of words.entries()) insert.run(row, word);
    })();
    const rows = database
      .query<{ doc: number; term: string }, []>("SELECT doc, term FROM terms ORDER BY doc")
      .all();
    const terms = new Map(rows.map(({ doc, term }) => [doc, term]));
    return words.map((_, row) => terms.get(row) ?? "");
  } finally {
    database.close();
  }
}

function expectSame(words: readonly string[]): void {
  const stems = words.map((word) => `${word} ${porterStem(word)}`);
  expect(stems).toEqual(indexed(words).map((term, at) => `${words[at]} ${term}`));
}

test("stems every word of the documents as the word index of a pack does", () => {
  const docs = join(import.meta.dir, "../../../docs");
  const texts = readdirSync(docs, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => readFileSync(join(docs, name), "utf8"));
  const words = [...new Set(texts.flatMap(analyse))];
  expect(words.length).toBeGreaterThan(2000);
  expectSame(words);
});

const ENDINGS =
  `s es ies sses ss ed eed ing at bl iz y ational tional enci anci izer logi bli alli entli eli ousli ization
  ation ator alism iveness fulness ousness aliti iviti biliti icate ative alize iciti ical ful ness al ance
  ence er ic able ible ant ement ment ent ion sion tion ou ism ate iti ous ive ize e ll`.split(
    /\s+/,
  );

test("stems any word with any ending as the word index of a pack does", () => {
  const letters = fc.string({
    unit: fc.constantFrom(..."abcdefhilmnostuvwxyzßøñж"),
    minLength: 0,
    maxLength: 7,
  });
  const word = fc
    .tuple(letters, fc.constantFrom(...ENDINGS), fc.constantFrom("", "s", "ed", "ing", "e", "ly"))
    .map((parts) => parts.join(""));
  expectSame([...new Set(fc.sample(word, { numRuns: 20_000, seed: 5 }))]);
});
