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

test("a long text and one without words are no statements", () => {
  expect(readStatement("Ann lives in Bristol. ".repeat(30))).toBeUndefined();
  expect(readStatement("…")).toBeUndefined();
});
