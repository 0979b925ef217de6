import { expect, test } from "bun:test";
import { FLAWS } from "../../../scripts/quality/extraction-flaws.ts";
import { judge } from "../../../scripts/quality/extraction-score.ts";
import {
  readConversations,
  readFourthSet,
  readSecondSet,
  readSixthSet,
  readThirdSet,
} from "../../../scripts/quality/extraction-set.ts";

/** The most of the wrong claims that may be kept, and of the right ones that may be dropped. */
const LIMIT = 0.02;

const conversations = readConversations();
const verdicts = conversations.flatMap((conversation) => judge(conversation, conversations));
const wrong = verdicts.filter(({ planted }) => planted.flaw !== undefined);
const right = verdicts.filter(({ planted }) => planted.flaw === undefined);

test("the set has conversations of several kinds in three languages, hostile ones too", () => {
  const turns = conversations.flatMap((conversation) => conversation.turns);
  expect(conversations.length).toBeGreaterThanOrEqual(60);
  expect(turns.length).toBeGreaterThanOrEqual(300);
  expect(new Set(conversations.map(({ language }) => language))).toEqual(
    new Set(["en", "de", "es"]),
  );
  expect(
    turns.flatMap((turn) => turn.wrong).filter(({ why }) => why === "order").length,
  ).toBeGreaterThan(15);
});

test("mistakes of every kind are planted, two hundred or more", () => {
  const planted = new Set(wrong.map(({ planted: { flaw } }) => flaw ?? ""));
  expect([...planted].sort()).toEqual([...FLAWS].sort());
  expect(FLAWS.length).toBeGreaterThanOrEqual(12);
  expect(wrong.length).toBeGreaterThanOrEqual(200);
});

test("of the wrong claims at most 2 % are kept, in every language", () => {
  for (const language of ["en", "de", "es"]) {
    const all = wrong.filter((verdict) => verdict.language === language);
    const kept = all.filter(({ isKept }) => isKept);
    expect(kept.length / all.length).toBeLessThanOrEqual(LIMIT);
  }
});

test("of the right claims at most 2 % are dropped, in every language", () => {
  for (const language of ["en", "de", "es"]) {
    const all = right.filter((verdict) => verdict.language === language);
    const dropped = all.filter(({ isKept }) => !isKept);
    expect(dropped.length / all.length).toBeLessThanOrEqual(LIMIT);
  }
});

test("every dropped claim has a reason", () => {
  const silent = verdicts.filter(({ isKept, reasons }) => !isKept && reasons.length === 0);
  expect(silent.map(({ conversation, planted }) => [conversation, planted.claim.object])).toEqual(
    [],
  );
});

test.each([
  ["second", readSecondSet(), 1],
  ["third", readThirdSet(), 2],
  ["fourth", readFourthSet(), 3],
  ["sixth", readSixthSet(), 1],
] as const)("a %s set, written after the first, has as few mistakes", (_, set, dropped) => {
  const all = set.flatMap((conversation) => judge(conversation, set));
  const isWrong = ({ planted }: (typeof all)[number]) => planted.flaw !== undefined;
  const mistakes = all.filter((verdict) => verdict.isKept === isWrong(verdict));
  expect(mistakes.filter(isWrong).length / all.filter(isWrong).length).toBeLessThanOrEqual(LIMIT);
  expect(mistakes.length - mistakes.filter(isWrong).length).toBeLessThanOrEqual(dropped);
});
