import { describe, expect, test } from "bun:test";
import { readStatement, type Statement } from "../../src/domain/replacement.ts";
import { mayComeFirst, saysTheSame } from "../../src/domain/same-saying.ts";

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

describe("a later memory may come first", () => {
  const mayBe = (newer: string, older: string, question: string) =>
    mayComeFirst(statement(newer), statement(older), statement(question));

  test.each([
    ["Ann lives in Bath.", "Ann lives in Leeds.", "Where does Ann live?"],
    ["Ann lives in Bath.", "Ann lives in Leeds.", "Does Ann live in Bath?"],
    ["Hung the ladder in the barn.", "The ladder is behind the house.", "Where is the ladder?"],
    ["Signed for the red bike today!", "Leaning towards the blue bike.", "Which bike is it?"],
  ])("%s / %s / %s", (newer, older, question) => {
    expect(mayBe(newer, older, question)).toBe(true);
  });

  test.each([
    ["names the earlier value", "I like coffee.", "I like tea.", "Do I like tea?"],
    ["is about what only the earlier one says", "Ann has a dog.", "Ann sails.", "Who sails?"],
    [
      "is about another side of a person",
      "Ann is a nurse.",
      "Ann lives in Bath.",
      "Where is Ann's home?",
    ],
    [
      "has most of its words from the earlier one",
      "Dogs fear noise.",
      "The dog Rex is old and grey.",
      "Is the dog Rex old?",
    ],
    ["is not answered by a report", "Ben says two eggs suffice.", "I take four eggs.", "Eggs?"],
    ["is not answered by a plan", "We might buy eggs at Lidl.", "Eggs are from Ada.", "Eggs?"],
    ["has both answers", "I also read the Echo.", "I read the Post.", "What do I read?"],
    ["is about another thing than what ended", "We no longer grow corn.", "We grow peas.", "Peas?"],
  ])("not if the question %s", (_, newer, older, question) => {
    expect(mayBe(newer, older, question)).toBe(false);
  });
});
