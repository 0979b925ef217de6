import { expect, test } from "bun:test";
import { snowball } from "../../../src/adapters/stemming/stem.ts";
import { FUNCTION_WORDS, SIGN_WORDS } from "../../../src/domain/function-words.ts";
import { STEMMED_LANGUAGES } from "../../../src/domain/language.ts";
import { ANALYSER } from "../../../src/domain/stemmed-words.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";

/** What makes the stems of each version of the analyser. Stems that change need another version: packs are indexed by them. */
const DIGESTS: Readonly<Record<number, string>> = {
  1: "e316d2e722f93ffc756dc3aeff6e8518f393aab85feba1082e747cd717056147",
};

test("the stems of a version of the analyser do not change", () => {
  const words = [...Object.values(FUNCTION_WORDS), ...Object.values(SIGN_WORDS)]
    .join(" ")
    .split(/\s+/);
  const stems = STEMMED_LANGUAGES.flatMap((language) =>
    words.map((word) => snowball(language, word.toLowerCase())),
  );
  expect(sha256Hex(JSON.stringify([FUNCTION_WORDS, SIGN_WORDS, stems]))).toBe(
    DIGESTS[ANALYSER] ?? "",
  );
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
