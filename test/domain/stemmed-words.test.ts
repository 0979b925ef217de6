import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { snowball } from "../../src/adapters/stemming/stem.ts";
import { analyse, identifierParts, questionTerms } from "../../src/domain/lexical-analysis.ts";
import { besideWords, questionWords, stemsOf } from "../../src/domain/stemmed-words.ts";

const stems = (text: string) => stemsOf(text, analyse(text), snowball);
const forms = (question: string) =>
  questionWords(question, snowball).map((word) =>
    word.forms.flatMap(({ term, weight }) => (weight === 1 ? [term] : [])),
  );
const otherwise = (word: string) =>
  questionWords(word, snowball)[0]?.forms.flatMap(({ term, weight }) => (weight < 1 ? [term] : []));

describe("what is indexed beside the words of a text", () => {
  test("is the stem of each word that is not a function word, with the sign of its language", () => {
    expect(stems("Meine Kinder spielen mit den Kindern")).toEqual(
      ["kind", "spiel", "kind"].map((stem) => `${stem}\ue001`),
    );
    expect(stems("Я купил книгу")).toEqual(["куп\ue007", "книг\ue007"]);
  });

  test("is nothing for English, so that its index is the same as ever", () => {
    expect(stems("My children play with the other children")).toEqual([]);
  });

  test("leaves out numbers, other scripts and runs that are no words", () => {
    const key = "k".repeat(41);
    expect(stems(`Ich habe am 3.5. ${key} und 绿茶 bei der Oma`)).toEqual(["oma\ue001"]);
  });

  test("has only letters, although scripts have numerals and signs of their own", () => {
    expect(stems("Meine Kinder spielen mit den Kindernↀ").at(-1)).toBe("kind\ue001");
    expect(stems("Я купил ꙳книгу").at(-1)).toBe("книг\ue007");
  });
});

describe("the words of a question", () => {
  test("are each searched for as they are and by their stems", () => {
    expect(forms("wo wohnten Tims Kinder?")).toEqual([
      ["wohnten", "wohnt\ue001"],
      ["tims", "tim\ue001"],
      ["kinder", "kind\ue001"],
    ]);
  });

  test("meet what a text has in another form, with accents or without, ü or ue", () => {
    for (const written of ["Bücher", "Buecher", "Bu\u0308cher", "BÜCHER"]) {
      expect(forms(`Wo sind die ${written}?`)[0]?.at(-1)).toBe("buch\ue001");
    }
    expect(stems("Er sucht das Buch")).toContain("buch\ue001");
  });

  test("leave out the function words of their language, unless there is nothing else", () => {
    expect(forms("Was hat sie mit dem Hund gemacht?").map(([word]) => word)).toEqual([
      "hund",
      "gemacht",
    ]);
    expect(forms("Wer bin ich?").map(([word]) => word)).toEqual(["wer", "bin", "ich"]);
  });

  test("are those of the analyser for an English question", () => {
    for (const question of ["Where does Anna live?", "When did we go to the beach?", "Who am I?"]) {
      expect(forms(question)).toEqual(questionTerms(question).map(({ term }) => [term]));
    }
  });

  test("are looked for as others type them, which counts half", () => {
    expect(otherwise("Đức")).toEqual(["duc", "duc\ue008"]);
    expect(otherwise("duc")).toEqual(["duc\ue008"]);
    expect(besideWords("Łódź, Þórunn, Cœur", ["łodz", "þorunn", "cœur"], snowball)).toEqual(
      ["lodz", "thorunn", "coeur"].map((word) => `${word}\ue008`),
    );
  });

  test.each([
    ["parseV2Config", "parse v2 config"],
    ["OAuth2Token", "oauth2 oauth token"],
    ["XMLHttpRequest", "xml http request"],
    ["GrößeDerDatei", "große der datei"],
    ["C++, C# and .NET", "cplusplus csharp dotnet"],
    ["iPhones, APIs, WiFi, 3D, H2O and example.net", ""],
    ["kX9vB2mQ7Lp4ZrT8", ""],
  ])("of the identifiers in %s have the parts %s", (text, parts) => {
    expect(identifierParts(text).join(" ")).toBe(parts);
  });

  test("a single unspaced character still begins pairs", () => {
    expect(questionWords("茶", snowball)).toEqual([
      { forms: [{ term: "茶", prefix: true, weight: 1 }] },
    ]);
  });
});

test("any text is analysed, and each of its stems is a single term", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc
      .array(
        fc.oneof(
          fc.constantFrom(
            "der",
            "große",
            "Häuser",
            "les",
            "où",
            "книги",
            "的",
            "👩‍👩‍👧",
            "שלום",
            "ij",
          ),
          fc.string({ unit: "grapheme", maxLength: 12 }),
        ),
        { maxLength: 30 },
      )
      .map((words) => words.join(" ")),
  );
  fc.assert(
    fc.property(text, (given) => {
      for (const stem of stems(given)) expect(stem).toMatch(/^[\p{L}\p{M}]*[\ue001-\ue007]$/u);
      expect(stems(given.normalize("NFC"))).toEqual(stems(given.normalize("NFD")));
      forms(given);
    }),
    { numRuns: 300 },
  );
});

test("a text of 100,000 characters without a blank has terms in proportion, whatever it is of", () => {
  for (const unit of ["ä", "я", "ij", "é", "的", "ก", "👍", "\u0301", "ש", "aé的я"]) {
    const long = unit.repeat(Math.ceil(100_000 / unit.length));
    const german = `Das ist ${long} und nicht mehr`;
    expect(stems(german).length).toBeLessThanOrEqual(german.length);
    expect(forms(long).length).toBeLessThanOrEqual(long.length);
  }
});
