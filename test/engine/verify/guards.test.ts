import { describe, expect, test } from "bun:test";
import type { Evidence } from "../../../src/engine/verify/api.ts";
import {
  isContradictionCorroborated,
  isExplicitlyNegated,
  maySupport,
  readEvidence,
  wordingOf,
} from "../../../src/engine/verify/guards.ts";

const group = (text: string, more: Partial<Evidence> = {}) => [
  readEvidence({ reference: "e1", memoryId: "memory-1", text, ...more }),
];

describe("maySupport", () => {
  test.each([
    { claim: "Ann moved to Oslo", text: "Ann moved to Oslo last year", may: true },
    { claim: "Ann moved to Oslo", text: "Ann plans to move to Oslo", may: false },
    { claim: "Ann plans to move to Oslo", text: "Ann is planning the move to Oslo", may: true },
    { claim: "Ann plans to move to Oslo", text: "Ann moved to Oslo", may: true },
    { claim: "Ann plans to move", text: "Ann wants and plans to move", may: false },
    { claim: "Ann likes tea", text: "Does Ann like tea?", may: false },
    { claim: "Ann likes tea", text: "Ann does not like coffee. She likes tea", may: false },
    { claim: "Ann has no car", text: "Ann does not have a car", may: true },
    { claim: "Ann left instead", text: "Ann did not stay", may: true },
  ])("$claim / $text: $may", ({ claim, text, may }) => {
    expect(maySupport(wordingOf(claim), group(text))).toBe(may);
  });

  test.each([
    { name: "tentative", more: { lifecycleState: "tentative" }, may: true },
    { name: "contested", more: { lifecycleState: "contested" }, may: true },
    { name: "superseded", more: { lifecycleState: "superseded" }, may: false },
    { name: "deprecated", more: { lifecycleState: "deprecated" }, may: false },
    { name: "archived", more: { lifecycleState: "archived" }, may: false },
    { name: "inferred", more: { epistemicType: "inferred" }, may: true },
    { name: "deprecated", more: { epistemicType: "deprecated" }, may: false },
    { name: "hypothetical", more: { epistemicType: "hypothetical" }, may: false },
    { name: "conditional", more: { epistemicType: "conditional" }, may: false },
    { name: "unverified", more: { epistemicType: "unverified" }, may: false },
  ] as const)("lets $name evidence support a plain claim: $may", ({ more, may }) => {
    expect(maySupport(wordingOf("Ann likes tea"), group("Ann likes tea", more))).toBe(may);
  });

  test.each([
    { type: "hypothetical", claim: "Ann might like tea", may: true },
    { type: "hypothetical", claim: "If asked, Ann likes tea", may: true },
    { type: "hypothetical", claim: "Ann reportedly likes tea", may: false },
    { type: "conditional", claim: "Ann likes tea if it is hot", may: true },
    { type: "conditional", claim: "Ann might like tea", may: false },
    { type: "unverified", claim: "Ann reportedly likes tea", may: true },
    { type: "unverified", claim: "Perhaps Ann likes tea", may: true },
    { type: "unverified", claim: "Ann likes tea if it is hot", may: false },
  ] as const)("lets $type evidence support '$claim': $may", ({ type, claim, may }) => {
    const evidence = group("Ann likes tea", { epistemicType: type });
    expect(maySupport(wordingOf(claim), evidence)).toBe(may);
  });

  test("asks it of every member of a group", () => {
    const [first] = group("Ann moved");
    const [second] = group("Ann hopes to stay");
    expect(maySupport(wordingOf("Ann moved"), [first!, second!])).toBe(false);
  });
});

describe("isContradictionCorroborated", () => {
  test.each([
    {
      why: "the claim is negated",
      claim: "Ann never drinks tea",
      text: "Ann drinks tea",
      is: true,
    },
    { why: "the claim replaces", claim: "Ann switched from tea", text: "Ann drinks tea", is: true },
    { why: "numbers differ", claim: "Ann has 2 cats", text: "Ann has 3 cats", is: true },
    { why: "days differ", claim: "It was on Monday", text: "It was on Friday", is: true },
    { why: "months differ", claim: "Ann came in May", text: "Ann came in June", is: true },
    { why: "numbers are equal", claim: "Ann has 2 cats", text: "Ann had 2 cats", is: false },
    { why: "only one has numbers", claim: "Ann has 2 cats", text: "Ann has cats", is: false },
    {
      why: "the words deny it",
      claim: "Ann likes green tea",
      text: "Ann does not like green tea",
      is: true,
    },
    { why: "nothing shows it", claim: "Ann likes tea", text: "Ann prefers coffee", is: false },
    { why: "the evidence asks", claim: "Ann has 2 cats", text: "Does Ann have 3 cats?", is: false },
  ])("$is when $why", ({ claim, text, is }) => {
    expect(isContradictionCorroborated(wordingOf(claim), group(text))).toBe(is);
  });

  test("is false for evidence that was superseded", () => {
    const evidence = group("Ann has 3 cats", { lifecycleState: "superseded" });
    expect(isContradictionCorroborated(wordingOf("Ann has 2 cats"), evidence)).toBe(false);
  });
});

describe("isExplicitlyNegated", () => {
  test.each([
    { claim: "Ann likes green tea", text: "Ann doesn't like green tea at all", is: true },
    { claim: "Ann likes green tea", text: "Ann does not like tea", is: false },
    { claim: "Ann likes green tea", text: "Ann likes green tea, Bob does not", is: false },
    { claim: "Ann smokes", text: "Ann does not smoke", is: true },
    { claim: "Ann smokes", text: "Ann does not smoke indoors", is: false },
    { claim: "Smokes", text: "Does not smoke", is: false },
    { claim: "Ann never smokes cigars", text: "Ann does not smoke cigars", is: false },
    { claim: "Ann smokes cigars", text: "Ann should not smoke cigars", is: false },
  ])("$claim / $text: $is", ({ claim, text, is }) => {
    expect(isExplicitlyNegated(wordingOf(claim), group(text))).toBe(is);
  });
});
