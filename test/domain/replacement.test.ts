import { describe, expect, test } from "bun:test";
import {
  mayReplace,
  readStatement,
  replaces,
  type Statement,
} from "../../src/domain/replacement.ts";

function statement(text: string): Statement {
  const read = readStatement(text);
  if (read === undefined) throw new Error(`${text} is no statement`);
  return read;
}

const judge = (newer: string, older: string, cosine: number, isSaid = false) =>
  replaces(statement(newer), statement(older), cosine, isSaid);

describe("a newer statement replaces an older one", () => {
  test.each([
    ["Ann lives in Bristol now.", "Ann lives in Leeds."],
    ["Ann isn't allergic to nuts.", "Ann is allergic to nuts."],
    ["Kaffee trinkt Jan gar keinen mehr.", "Jan trinkt jeden Tag Kaffee."],
    ["Carmen ya no trabaja los sábados.", "Carmen trabaja los sábados."],
    ["The rent is 1340 euros.", "The rent is 1250 euros."],
    ["Ann no longer works for Juno but for Lumen.", "Ann no longer works for Corvex but for Juno."],
    ["Ann's hobby is yoga instead of chess.", "Ann's hobby is chess instead of rowing."],
    ["Jan trinkt Tee statt Kakao.", "Jan trinkt Kakao statt Mate."],
    ["Eva ya no vive en Lugo sino en Vigo.", "Eva ya no vive en Soria sino en Lugo."],
  ])("%s / %s", (newer, older) => {
    expect(judge(newer, older, 0.87)).toBe(true);
  });
});

describe("both statements stay true", () => {
  test.each([
    ["Ben lives in Bristol.", "Ann lives in Leeds."],
    ["We have a tortoise called Gherkin.", "We have a cat called Miso."],
    ["Invoice 2042 is paid.", "Invoice 2041 is paid."],
    ["Donna moved to Denver.", "Dana moved to Chicago."],
    ["Ben keeps notes in Roam these days.", "Ann keeps notes in Roam."],
    ["The hobby of Ben is origami instead of rowing.", "The hobby of Ann is rowing."],
    ["Ben's hobby is origami instead of rowing.", "Ann's hobby is rowing."],
  ])("%s / %s", (newer, older) => {
    expect(judge(newer, older, 0.9)).toBe(false);
    const one = statement(newer);
    expect(mayReplace(one, one, false)).toBe(false);
  });

  test("where the words of change stand in the older one", () => {
    expect(judge("Ann lives in Leeds.", "Ann lives in Bristol now.", 0.9)).toBe(false);
  });

  test("where the vectors are far apart, and for what was said even where they are nearer", () => {
    expect(judge("Ann lives in Bristol now.", "Ann lives in Leeds.", 0.3)).toBe(false);
    expect(judge("Ann lives in Bristol now.", "Ann lives in Leeds.", 0.7, true)).toBe(false);
  });
});

test("two sides of one person are told apart where their vectors are less near, and two homes are not", () => {
  expect(judge("Ann lives in Bristol now.", "Ann works for Corvex.", 0.76)).toBe(false);
  expect(judge("Ann moved from York to Bristol.", "Ann lives in Leeds.", 0.68)).toBe(true);
  expect(judge("Jan ist von Ulm nach Bonn gezogen.", "Jan wohnt in Kiel.", 0.68)).toBe(true);
  expect(judge("Eva se mudó de Lugo a Vigo.", "Eva vive en Soria.", 0.68)).toBe(true);
});

test("a long text and one without words are no statements", () => {
  expect(readStatement("Ann lives in Bristol. ".repeat(30))).toBeUndefined();
  expect(readStatement("…")).toBeUndefined();
});
