import { describe, expect, test } from "bun:test";
import {
  ANSWER_MAX_CHARS,
  CLAIMS_MAX,
  readBatchAnswer,
  readSingleAnswer,
} from "../../../src/domain/extraction/read-answer.ts";
import { resultForm } from "../../../src/domain/extraction/result.ts";

const FACT = {
  subject: "I",
  predicate: "lives_in",
  object: "Lisbon",
  polarity: "positive",
  evidence_quote: "I live in Lisbon.",
};
const RELATION = {
  source_entity: "Clara",
  target_entity: "Porto",
  relationship_type: "lives_in",
  polarity: "positive",
  evidence_quote: "Clara lives in Porto.",
  epistemic_type: "Observed",
};

function single(part: object) {
  return readSingleAnswer(JSON.stringify(part));
}

describe("an answer to one turn", () => {
  test("has its defaults, ignores unknown keys and reads kinds of knowledge in any case", () => {
    const read = single({ facts: [{ ...FACT, mood: "sunny" }], relationships: [RELATION] });
    const [fact, relation] = read?.result.claims ?? [];
    expect(fact).toMatchObject({
      kind: "fact",
      confidence: 0.5,
      factType: "fact",
      epistemicType: "asserted",
    });
    expect(relation).toMatchObject({
      kind: "relationship",
      subject: "Clara",
      predicate: "lives_in",
      object: "Porto",
      epistemicType: "observed",
    });
    expect(read?.tally.counts).toEqual({});
  });

  const SAID = JSON.stringify({ facts: [FACT] }, null, 2);
  test.each([
    ["a code fence", `\`\`\`json\n${SAID}\n\`\`\``],
    ["a code fence and an explanation", `\`\`\`\n${SAID}\n\`\`\`\nExplanation: {one} fact.`],
    ["thoughts", `<think>Perhaps {"facts": []}?</think>\n${SAID}`],
    ["thoughts whose first tag the server took", `Perhaps {"facts": []}?\n</think>\n${SAID}`],
    ["prose", `Here are the facts:\n${SAID}\nDo you need more?`],
    ["a byte order mark", `\ufeff${SAID}`],
    ["itself, said twice", `${SAID}\n\nOnce more:\n${SAID}`],
    ["a list", `[${SAID}]`],
    ["an envelope", `{"result": ${SAID}}`],
    ["an envelope with more in it", `{"status": "ok", "answer": {"data": ${SAID}}}`],
    ["all of them", `<thinking>{</thinking>Sure:\n\`\`\`json\n{"output": ${SAID}}\n\`\`\`\nDone.`],
  ])("is found in %s", (_, answer) => {
    expect(readSingleAnswer(answer)?.result.claims).toMatchObject([{ object: "Lisbon" }]);
    const batch = answer.replaceAll(SAID, `{"turns": [{"turn": 2, ${SAID.slice(1)}]}`);
    expect(readBatchAnswer(batch, 2)?.turns.get(2)?.result.claims).toHaveLength(1);
  });

  test.each([
    ["text", "I found nothing."],
    ["a list", "[]"],
    ["JSON that was cut off", JSON.stringify({ facts: [FACT] }).slice(0, -3)],
    ["NaN", '{"facts": [], "score": NaN}'],
    ["two answers that differ", `${SAID} {"facts": []}`],
    ["a part of what was cut off", `{"turns": [${SAID}, {"facts`],
    ["thoughts without an end", `<think>Perhaps ${SAID}`],
    ["an envelope around something else", '{"result": {"facts_found": 3}}'],
    ["an object with none of the members", '{"claims": []}'],
    ["an empty object", "{}"],
    ["facts that are null", '{"entities": [], "facts": null, "relationships": []}'],
    ["an echo of the schema", '{"type": "object", "properties": {"facts": {"type": "array"}}}'],
    ["facts that are no list", '{"facts": {}}'],
    ["a key twice at the top", '{"facts": [], "facts": []}'],
    ["an entity without a type", '{"entities": [{"name": "Clara"}]}'],
    ["deep nesting", `{"facts": ${"[".repeat(200)}${"]".repeat(200)}}`],
    ["five megabytes", JSON.stringify({ summary: "x".repeat(5 * 1024 * 1024) })],
  ])("is asked for again when it is %s", (_, answer) => {
    expect(readSingleAnswer(answer)).toBeUndefined();
  });

  test.each<[string, object]>([
    ["no polarity", { ...FACT, polarity: undefined }],
    ["another polarity", { ...FACT, polarity: "neutral" }],
    ["no quote", { ...FACT, evidence_quote: undefined }],
    ["a blank quote", { ...FACT, evidence_quote: "  " }],
    ["confidence above 1", { ...FACT, confidence: 1.5 }],
    ["confidence in words", { ...FACT, confidence: "high" }],
    ["confidence above 100 %", { ...FACT, confidence: 101 }],
    ["confidence below 0", { ...FACT, confidence: -1 }],
    ["a deprecated kind", { ...FACT, epistemic_type: "deprecated" }],
    ["an unknown fact type", { ...FACT, fact_type: "habit" }],
    ["a subject that is a number", { ...FACT, subject: 7 }],
    ["half a character", { ...FACT, object: "Lis\ud800bon" }],
    ["a very long object", { ...FACT, object: "x".repeat(40_000) }],
    ["a condition that is a list", { ...FACT, condition: [] }],
  ])("loses a fact with %s alone", (_, fact) => {
    const read = single({ facts: [fact, FACT] });
    expect(read?.result.claims).toHaveLength(1);
    expect(read?.tally.counts).toEqual({ malformed: 1 });
  });

  test.each<[object, object]>([
    [{ confidence: "0.9" }, { confidence: 0.9 }],
    [{ confidence: 95 }, { confidence: 0.95 }],
    [{ confidence: "95 %" }, { confidence: 0.95 }],
    [{ confidence: 1 }, { confidence: 1 }],
    [{ confidence: 1e-7 }, { confidence: 1e-7 }],
    [{ polarity: "Positive" }, { polarity: "positive" }],
    [{ polarity: " NEGATIVE" }, { polarity: "negative" }],
    [{ fact_type: "Preference" }, { factType: "preference" }],
  ])("reads %j as it is meant", (said, meant) => {
    expect(single({ facts: [{ ...FACT, ...said }] })?.result.claims).toMatchObject([meant]);
  });

  test("loses a fact that has a key twice, because nobody knows which one was meant", () => {
    const text = JSON.stringify(FACT);
    const twice = `${text.slice(0, -1)},"object":"Porto"}`;
    const read = readSingleAnswer(`{"facts":[${twice},${text}]}`);
    expect(read?.result.claims.map(({ object }) => object)).toEqual(["Lisbon"]);
    expect(read?.tally.counts).toEqual({ malformed: 1 });
  });

  test("keeps the first claims of ten thousand", () => {
    const read = single({ facts: Array.from({ length: 10_000 }, () => FACT) });
    expect(read?.result.claims).toHaveLength(CLAIMS_MAX);
    expect(read?.tally.counts).toEqual({ too_many: 10_000 - CLAIMS_MAX });
  });

  test("is read up to its limit", () => {
    const text = JSON.stringify({ facts: [FACT] });
    expect(readSingleAnswer(text + " ".repeat(ANSWER_MAX_CHARS - text.length))).toBeDefined();
  });

  test.each<[string, unknown, object | undefined]>([
    ["a whole number", { value: 3, unit: "kg", source_text: "3 kg" }, { value: "3" }],
    ["a decimal as text", { value: "1.50", unit: "kg", source_text: "1.50 kg" }, { value: "1.50" }],
    ["an exponent", { value: "1e3", unit: "kg", source_text: "1000 kg" }, { value: "1000" }],
    ["a binary fraction", { value: 1.1, unit: "kg", source_text: "1.10 kg" }, { value: "1.10" }],
    ["a fraction without its text", { value: 1.1, unit: "kg", source_text: "some kg" }, undefined],
    ["a truth", { value: true, unit: "kg", source_text: "1 kg" }, undefined],
    ["words", { value: "three", unit: "kg", source_text: "three kg" }, undefined],
    ["39 digits", { value: "1".repeat(39), unit: "kg", source_text: "1 kg" }, undefined],
    ["a blank unit", { value: 3, unit: " ", source_text: "3 kg" }, undefined],
    ["a list", [3], undefined],
  ])("keeps the fact, and its amount if that is exact: %s", (_, quantity, kept) => {
    const [fact] = single({ facts: [{ ...FACT, quantity }] })?.result.claims ?? [];
    expect(fact?.object).toBe("Lisbon");
    if (kept === undefined) expect(fact?.quantity).toBeUndefined();
    else expect(fact?.quantity).toMatchObject(kept);
  });

  test("is kept in records with every member, and read back from there", () => {
    const { result } = single({ facts: [FACT], relationships: [RELATION] }) ?? {};
    const json = resultForm.json(result!);
    expect(json).toMatchObject({ summary: null, facts: [{ condition: null, quantity: null }] });
    expect(JSON.stringify(json)).not.toContain("replaces_node_id");
    expect(resultForm.read(json, "result")).toEqual(result!);
  });
});

describe("an answer to several turns", () => {
  const batch = (turns: unknown, count: number) =>
    readBatchAnswer(JSON.stringify({ turns, note: "unused" }), count);

  test("is divided by turn, and names the turns that it left out", () => {
    const read = batch([{ turn: 2, facts: [FACT] }], 3);
    expect(read?.turns.get(2)?.result.claims).toHaveLength(1);
    expect(read?.leftOut).toEqual([1, 3]);
    expect(read?.response).toEqual({
      turns: [{ turn: 2, entities: [], facts: [FACT], relationships: [] }],
    });
  });

  test("leaves nothing out when no turn has an entry", () => {
    expect(batch([], 3)?.leftOut).toEqual([]);
  });

  test("joins the entries of one turn", () => {
    const read = batch(
      [
        { turn: 1, facts: [FACT], relationships: [RELATION] },
        { turn: 1, facts: [FACT] },
      ],
      1,
    );
    expect(read?.turns.get(1)?.result.claims.map(({ kind }) => kind)).toEqual([
      "fact",
      "fact",
      "relationship",
    ]);
  });

  test.each([[4], [1.5], ["4"], ["first"], [null], [undefined]])(
    "drops an entry for turn %p, which covers no turn",
    (turn) => {
      const read = batch([{ turn, facts: [FACT] }, { turn: 1 }], 3);
      expect(read?.leftOut).toEqual([2, 3]);
      expect(read?.tally.counts).toEqual({ foreign_turn: 1 });
    },
  );

  test.each([["2"], ["turn 2"], ["#2"], ["turn_2"], ["Turn 2."]])(
    "has its turn as text, %p",
    (turn) => {
      expect(batch([{ turn, facts: [FACT] }], 2)?.turns.get(2)?.result.claims).toHaveLength(1);
    },
  );

  test.each([[{ turn: "1" }], [{ turn: null }], [{ turn: 0 }], [{ turn: "0" }], [{}]])(
    "is of the one turn that was asked, with %j",
    (named) => {
      const read = batch([{ ...named, facts: [FACT] }], 1);
      expect(read?.turns.get(1)?.result.claims).toHaveLength(1);
      expect(read?.response).toMatchObject({ turns: [{ turn: 1, facts: [FACT] }] });
    },
  );

  test.each([
    [
      [0, 1],
      [1, 2],
    ],
    [
      ["0", "Turn 1"],
      [1, 2],
    ],
    [[0, 2], [2]],
    [
      [2, "1"],
      [1, 2],
    ],
  ])("counts its turns %j, from 0 where that one and not the last is named", (named, indices) => {
    const read = batch(
      named.map((turn) => ({ turn, facts: [FACT] })),
      2,
    );
    expect([...(read?.turns.keys() ?? [])].toSorted()).toEqual(indices);
  });

  test("is of the one turn that was asked, without a list of turns", () => {
    const read = readBatchAnswer(JSON.stringify({ facts: [FACT] }), 1);
    expect(read?.turns.get(1)?.result.claims).toHaveLength(1);
  });

  test.each<[string, unknown, number]>([
    ["turns that were not asked", [{ turn: 3, facts: [FACT] }], 2],
    ["no turn at all", [{ facts: [FACT] }], 2],
    ["another turn than the one asked", [{ turn: 2, facts: [FACT] }], 1],
    ["something else", [{ turn: 1, result: { facts: 3 } }], 1],
  ])("is asked for again when its entries are of %s", (_, turns, count) => {
    expect(batch(turns, count)).toBeUndefined();
  });

  test("drops malformed entities and facts one by one", () => {
    const read = batch(
      [{ turn: 1, entities: [{}], facts: [{}, FACT] }, 7, { turn: 2, facts: 3 }],
      1,
    );
    expect(read?.turns.get(1)?.result.claims).toHaveLength(1);
    expect(read?.turns.get(1)?.tally.counts).toEqual({ malformed: 2 });
    expect(read?.tally.counts).toEqual({ malformed: 2 });
  });

  test.each([["{}"], ['{"turns": {}}'], ['{"turns": []'], ["null"]])(
    "cannot be read as %s",
    (answer) => {
      expect(readBatchAnswer(answer, 2)).toBeUndefined();
    },
  );
});
