import { describe, expect, test } from "bun:test";
import { strengthsOf } from "../../src/domain/candidate-filter.ts";

const QUESTION = "Where are the spare keys?";

describe("the strength of hits", () => {
  test("is strong where vector and words answer the question together, and for what is not much worse", () => {
    const hits = [
      { text: "The spare keys are in the blue bowl.", cosine: 0.7 },
      { text: "The spare tyre is in the cellar.", cosine: 0.62 },
      { text: "Otters swim.", cosine: 0.5 },
    ];
    expect(strengthsOf(QUESTION, hits)).toEqual(["strong", "strong", "weak"]);
  });

  test("is weak for all where the best does not answer the question", () => {
    const hits = [
      { text: "Otters swim.", cosine: 0.65 },
      { text: "Herons fly.", cosine: 0.6 },
    ];
    expect(strengthsOf(QUESTION, hits)).toEqual(["weak", "weak"]);
    expect(strengthsOf(QUESTION, [])).toEqual([]);
  });

  test("is strong for the first that is far ahead of all others", () => {
    const hits = [
      { text: "Otters swim.", cosine: 0.64 },
      { text: "Herons fly.", cosine: 0.55 },
    ];
    expect(strengthsOf("Who is at home in water?", hits, 0.55)).toEqual(["strong", "weak"]);
    expect(strengthsOf("Who is at home in water?", hits, 0.6)).toEqual(["weak", "weak"]);
    expect(strengthsOf("Who is at home in water?", hits)).toEqual(["weak", "weak"]);
  });

  test("is told by the words alone where there is no vector", () => {
    const hits = [
      { text: "Spare keys: blue bowl.", cosine: undefined },
      { text: "Otters swim.", cosine: undefined },
    ];
    expect(strengthsOf(QUESTION, hits)).toEqual(["strong", "weak"]);
  });

  test("is strong for a type that the question names, and nothing else", () => {
    const hits = [
      { text: "Renew the passport.", nodeType: "task", cosine: 0.55 },
      { text: "The shop opens at nine.", nodeType: "note", cosine: 0.5 },
    ] as const;
    for (const question of ["open tasks", "What are my tasks?", "offene Aufgaben", "todo list"]) {
      expect([question, strengthsOf(question, hits)]).toEqual([question, ["strong", "weak"]]);
    }
    for (const question of ["tasks of Tom", "Which shop is open?"]) {
      expect([question, strengthsOf(question, hits)]).toEqual([question, ["weak", "weak"]]);
    }
  });
});
