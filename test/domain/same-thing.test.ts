import { describe, expect, test } from "bun:test";
import { readStatement } from "../../src/domain/replacement.ts";
import { askedThing, onSameThing } from "../../src/domain/same-thing.ts";

/** Whether the later text answers the question of now before the earlier one, if their vectors are near. */
function isLaterFirst(question: string, earlier: string, later: string, farther = 0): boolean {
  const asked = askedThing(question);
  const [newer, older] = [readStatement(later), readStatement(earlier)];
  if (asked === undefined || newer === undefined || older === undefined) return false;
  return onSameThing(asked, newer, older)?.({ alike: 0.7, farther }) ?? false;
}

describe("a later memory of the thing that is asked about stands before an earlier one", () => {
  test.each([
    [
      "Where is the van parked?",
      "The van is parked in Mill Street.",
      "Left the van in Harbour Road.",
    ],
    [
      "Who is my accountant?",
      "My accountant is Nils Berg.",
      "Ada Voss does my books as the accountant since May.",
    ],
    ["How many goats do we keep?", "We keep 7 goats.", "Two goats were born, that makes nine."],
    [
      "When does release 3.1 ship?",
      "Release 3.1 ships on 4 June.",
      "3.1 slips to the end of the month, 28 June.",
    ],
    ["Does the lift work?", "The lift is broken.", "A man came and the lift runs again."],
    ["Wer leitet den Chor?", "Den Chor leitet Frau Amsel.", "Herr Fink hat den Chor übernommen."],
    ["¿Dónde está la bici?", "La bici está en el patio.", "Guardé la bici en el trastero."],
    ["Où est la clé ?", "La clé est sous le pot.", "J'ai rangé la clé dans le tiroir."],
  ])("%s", (question, earlier, later) => {
    expect(isLaterFirst(question, earlier, later)).toBe(true);
  });
});

describe("the earlier one keeps its place", () => {
  test.each([
    ["a repeated value", "How many goats do we keep?", "We keep 7 goats.", "Fed all seven goats."],
    [
      "one more",
      "What do we install with?",
      "We install packages with npm.",
      "We also install packages with pnpm.",
    ],
    [
      "a thing of another",
      "What is the garage code?",
      "The garage code is 4417.",
      "The code of the cellar is 9920.",
    ],
    [
      "a person of another name",
      "When does Sam's alarm ring?",
      "Sam's alarm is at six.",
      "Samira's alarm is at seven.",
    ],
    [
      "another number",
      "How much is invoice 2041?",
      "Invoice 2041 is 780 euros.",
      "Invoice 2042 is 90 euros.",
    ],
    [
      "a text without a number",
      "How many goats do we keep?",
      "We keep 7 goats.",
      "The goats broke the fence.",
    ],
    [
      "what was",
      "Where did the van stand?",
      "The van stood in Mill Street.",
      "The van is in Harbour Road.",
    ],
    [
      "another topic",
      "Where is the van parked?",
      "The van is parked in Mill Street.",
      "Ana drinks tea.",
    ],
    [
      "what the question does not name",
      "Where is the van?",
      "The van is in Mill Street.",
      "Mill Street is closed.",
    ],
  ])("before %s", (_, question, earlier, later) => {
    expect(isLaterFirst(question, earlier, later)).toBe(false);
  });

  test("where the later one lacks a word of the question and is much farther from it", () => {
    const texts = ["The lift is broken.", "A man came for the lift."] as const;
    expect(isLaterFirst("Is the lift broken?", ...texts, 0.1)).toBe(true);
    expect(isLaterFirst("Is the lift broken?", ...texts, 0.3)).toBe(false);
  });
});
