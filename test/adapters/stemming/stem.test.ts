import { expect, test } from "bun:test";
import { snowball } from "../../../src/adapters/stemming/stem.ts";
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
