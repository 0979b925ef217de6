import { beforeAll, describe, expect, test } from "bun:test";
import type { MemoryNode } from "../../../src/domain/node.ts";
import type { ResultCandidate } from "../../../src/engine/retrieve/api.ts";
import type { PackRules } from "../../../src/engine/retrieve/pack/bundle.ts";
import { pack } from "../../../src/engine/retrieve/pack/pack.ts";
import { idOf, packRules, record, tokenizer } from "./pack-samples.ts";

beforeAll(() => tokenizer.ready());

type Packing = PackRules["settings"]["sessionContextPacking"];

function contents(
  results: readonly ResultCandidate[],
  sessionContextPacking: Packing,
  budget = 4096,
) {
  const rules = packRules(budget, { sessionContextPacking, multipathOrdering: "score" });
  const { sections } = pack(results, tokenizer, rules);
  return [...sections].map(([name, records]) => [
    name,
    ...records.map(({ candidate }) => candidate.node.content),
  ]);
}

function linked(
  number: number,
  to: number,
  offset: number,
  content: string,
  given: Partial<MemoryNode> = {},
): ResultCandidate {
  return record(number, content, given, { sessionLink: { triggerId: idOf(to), offset } });
}

describe("session neighbours", () => {
  const results = [
    record(1, "ordinary"),
    record(2, "pinned", { pinned: true }),
    record(3, "rule", { nodeType: "instruction" }),
    linked(4, 2, 1, "beside the pinned"),
    linked(5, 3, -1, "beside the rule", { nodeType: "summary" }),
    linked(6, 1, 1, "beside the ordinary"),
    linked(7, 99, 1, "beside what selection dropped"),
    record(8, "episode", {}, { paths: ["EPISODE_CONTEXT"] }),
    linked(9, 8, 2, "beside the episode"),
  ];

  test("have no place of their own by default", () => {
    expect(contents(results, undefined)).toEqual([
      ["system_instructions", "rule"],
      [
        "stable_facts",
        "pinned",
        "episode",
        "ordinary",
        "beside the pinned",
        "beside the ordinary",
        "beside what selection dropped",
        "beside the episode",
      ],
      ["summaries", "beside the rule"],
    ]);
  });

  test("follow the tier of a trigger that has a claim to an early place", () => {
    expect(contents(results, "trigger_tier")).toEqual([
      ["system_instructions", "rule"],
      ["summaries", "beside the rule"],
      [
        "stable_facts",
        "pinned",
        "beside the pinned",
        "episode",
        "beside the episode",
        "ordinary",
        "beside the ordinary",
        "beside what selection dropped",
      ],
    ]);
  });

  test("keep a claim of their own", () => {
    const own = [
      record(1, "episode", {}, { paths: ["EPISODE_CONTEXT"] }),
      linked(2, 1, 1, "pin", { pinned: true }),
    ];

    expect(contents(own, "trigger_tier")).toEqual([["stable_facts", "pin", "episode"]]);
  });

  const window = [
    record(1, "trigger"),
    record(2, "other"),
    linked(3, 1, 2, "two later"),
    linked(4, 1, -1, "one before"),
    linked(5, 1, 1, "one later"),
    linked(6, 1, -3, "three before"),
    linked(7, 1, 3, "elsewhere", { nodeType: "summary" }),
    linked(8, 2, 1, "later than the other"),
  ];

  test("stand beside their trigger in the order of the session, within one section", () => {
    expect(contents(window, "adjacent")).toEqual([
      [
        "stable_facts",
        "three before",
        "one before",
        "trigger",
        "one later",
        "two later",
        "other",
        "later than the other",
      ],
      ["summaries", "elsewhere"],
    ]);
  });

  test("come together also when they are packed before their trigger", () => {
    const early = linked(1, 3, 1, "after");
    const between = record(2, "between");
    const trigger = record(3, "trigger");

    expect(contents([early, between, trigger], "adjacent")).toEqual([
      ["stable_facts", "trigger", "after", "between"],
    ]);
  });

  test("change places only: the same records are packed", () => {
    for (let budget = 60; budget <= 160; budget += 1) {
      const packed = (packing: Packing) =>
        contents(window, packing, budget)
          .flatMap(([, ...texts]) => texts)
          .sort();

      expect(packed("adjacent")).toEqual(packed("trigger_tier"));
    }
  });

  test("stay when they were put beside their trigger, although a later record holds their text", () => {
    const evidence = { evidenceRefs: [idOf(900)] };
    const held = [
      record(1, "trigger"),
      linked(2, 1, 1, "I like tea", evidence),
      record(3, "She said: I like tea, and left.", evidence),
    ];

    expect(contents(held, "adjacent")).toEqual([
      ["stable_facts", "trigger", "I like tea", "She said: I like tea, and left."],
    ]);
    expect(contents(held, "trigger_tier")).toEqual([
      ["stable_facts", "trigger", "She said: I like tea, and left."],
    ]);
  });
});
