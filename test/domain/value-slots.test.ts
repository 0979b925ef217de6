import { describe, expect, test } from "bun:test";
import { askedValue, currentValue } from "../../src/domain/value-slots.ts";

/** The text that states the value of now, of texts in the order in which they were said; `ranked` has their places, best first. */
function currentOf(question: string, said: readonly string[], ranked = said.map((_, at) => at)) {
  const asked = askedValue(question);
  if (asked === undefined) return undefined;
  const hits = ranked.map((at) => ({ text: said[at] ?? "", by: "user", at }));
  const found = currentValue(asked, hits, (one, other) => one.at > other.at);
  return found && [found.current.at, found.earlier.at];
}

describe("of two hits that state a value, the later one is the value of now", () => {
  test.each([
    [
      "How many commits are in the main branch?",
      "The main branch has 150 commits and I tagged a release, can you review it?",
      "I need authentication, considering the commits in the main branch, which have now reached 165",
    ],
    [
      "When is my call with the director?",
      "I have a call with the director on April 21 at 3 PM, what should I ask?",
      "Moving the call with the director to April 22 at 11 AM might conflict with lunch",
    ],
    [
      "What is the response time of the search?",
      "The response time of the search is 800 ms",
      "With a cache the response time of the search improved from 800 ms to 250 ms",
    ],
    ["Wie hoch ist unsere Miete?", "Die Miete kostet 900 Euro", "Die Miete kostet jetzt 980 Euro"],
    [
      "¿Cuántos alumnos tiene mi curso?",
      "Mi curso tiene 18 alumnos y empieza pronto",
      "Ahora mi curso tiene 23 alumnos",
    ],
    [
      "Combien de pages a mon mémoire ?",
      "Mon mémoire a 40 pages",
      "Mon mémoire a maintenant 55 pages",
    ],
  ])("%s", (question, earlier, later) => {
    expect(currentOf(question, [earlier, later])).toEqual([1, 0]);
  });

  test("of several that state it, the best hit stands for it", () => {
    const said = [
      "I have 45 sources in Zotero",
      "I now have 52 sources in Zotero",
      "52 sources in Zotero are many",
    ];
    expect(currentOf("How many sources are in Zotero?", said)).toEqual([1, 0]);
  });
});

describe("nothing moves", () => {
  test.each([
    ["for a question about what was", "How many commits were in the main branch?"],
    ["for a sum", "How many commits are in both branches combined?"],
    ["for a question that asks for no value", "Who reviews the commits of the main branch?"],
  ])("%s", (_, question) => {
    const said = ["The main branch has 150 commits", "The main branch now has 165 commits"];
    expect(currentOf(question, said)).toBeUndefined();
  });

  test.each([
    ["the same value", "The main branch still has 150 commits now"],
    ["a value of another thing", "The main branch now has 12 reviewers"],
    ["a value of another size", "The main branch now has 90,000 commits"],
    ["a value of another kind", "The commits of the main branch are now reviewed to 80%"],
    ["no value", "The main branch has many commits now"],
  ])("where the later hit states %s", (_, later) => {
    expect(
      currentOf("How many commits are in the main branch?", [
        "The main branch has 150 commits",
        later,
      ]),
    ).toBeUndefined();
  });

  test("where the best hit is the newest", () => {
    const said = ["The main branch has 150 commits", "The main branch now has 165 commits"];
    expect(currentOf("How many commits are in the main branch?", said, [1, 0])).toBeUndefined();
  });
});
