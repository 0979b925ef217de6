import { describe, expect, test } from "bun:test";
import { analyse } from "../../src/domain/lexical-analysis.ts";
import { readStatement, type Statement } from "../../src/domain/replacement.ts";
import { asksFor, saysTheSame } from "../../src/domain/same-saying.ts";

function statement(text: string): Statement {
  const read = readStatement(text);
  if (read === undefined) throw new Error(`${text} is no statement`);
  return read;
}

const isSame = (newer: string, older: string) => saysTheSame(statement(newer), statement(older));

describe("two memories say the same with another value", () => {
  test.each([
    ["Ann lives in Bath.", "Ann lives in Leeds."],
    ["Ann lives in Bath now.", "Ann lives in Leeds."],
    ["Ann pays 480 euros of rent.", "Ann pays 450 euros of rent."],
    ["Ann pays 480 euros of rent.", "The rent of Ann was raised to 450 euros."],
    [
      "Ann no longer works for Altova but for Lumen.",
      "Ann no longer works for Corvex but for Juno.",
    ],
    ["Jan wohnt in Ulm.", "Jan wohnt in Bonn."],
    ["Eva vive en Lugo.", "Eva vive en Vigo."],
    ["Анна живёт в Туле.", "Анна живёт в Омске."],
    ["I like tea.", "I like coffee."],
    ["The doctor of Ann is Dr. Novak.", "Ann has a new doctor, Dr. Meyer."],
    [
      "Jan hat bei Juno gekündigt und ist jetzt bei Lumen.",
      "Jan hat bei Corvex gekündigt und ist jetzt bei Altova.",
    ],
  ])("%s / %s", (newer, older) => {
    expect(isSame(newer, older)).toBe(true);
  });
});

describe("two memories say different things", () => {
  test.each([
    ["Ben lives in Leeds.", "Ann lives in Leeds."],
    ["Ann lives in Leeds.", "Ann lives in Leeds."],
    ["Ann lives in Leeds now.", "Ann lives in Leeds."],
    ["Ann works at a bank in Leeds.", "Ann lives in Leeds."],
    ["Room 14 seats eight.", "Invoice 2041 is paid."],
    ["The flat costs 1100 euros of rent.", "The flat has 74 metres of hall."],
    ["Ann pays 480 euros.", "Ben pays 450 dollars."],
    ["Chess", "Tennis"],
  ])("%s / %s", (newer, older) => {
    expect(isSame(newer, older)).toBe(false);
  });
});

test.each([
  ["Where does Ann live?", false],
  ["Does Ann live in Bath?", false],
  ["Does Ann live in Leeds?", true],
])("%s asks for what only the older one says: %p", (question, isAsked) => {
  const [older, newer] = [statement("Ann lives in Leeds."), statement("Ann lives in Bath.")];
  expect(asksFor(new Set(analyse(question)), older, newer)).toBe(isAsked);
});
