import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Fusion } from "../../../src/domain/scoring.ts";
import type { MemoryBundle, ResultCandidate } from "../../../src/engine/retrieve/api.ts";
import { pack } from "../../../src/engine/retrieve/pack/pack.ts";
import { otherSides, select, withOtherSides } from "../../../src/engine/retrieve/select.ts";
import { seedInto } from "../../contract/sqlite-seed.ts";
import { link } from "../../contract/store-graph.ts";
import { DEFAULT_SETTINGS, useEngines } from "../engines.ts";
import { idOf, packRules, record, tokenizer } from "./pack-samples.ts";
import { ask, contentsOf, remember } from "./pipeline-world.ts";

const { open } = useEngines({ upkeep: undefined });
beforeAll(() => tokenizer.ready());

/** A contested result that contradicts the memory with this number. */
function claim(number: number, other: number, content = `claim ${number}`): ResultCandidate {
  const more = { conflictFlag: true, contradictsId: idOf(other) };
  return record(number, content, { lifecycleState: "contested", nodeType: "fact" }, more);
}

function plain(number: number, content = `memory ${number}`): ResultCandidate {
  return record(number, content, { nodeType: "fact" });
}

function numbers(candidates: readonly ResultCandidate[]): number[] {
  return candidates.map(({ node }) => Number(node.id.slice(-12)));
}

function packed(bundle: MemoryBundle): number[] {
  return numbers([...bundle.sections.values()].flat().map(({ candidate }) => candidate)).sort(
    (a, b) => a - b,
  );
}

describe("the other side", () => {
  test("is what a claim contradicts, else what contradicts it, if that is there", () => {
    const sides = otherSides([claim(1, 2), plain(2), claim(3, 1), claim(4, 9)]);

    expect(Object.fromEntries(sides)).toEqual({
      [idOf(1)]: idOf(2),
      [idOf(2)]: idOf(1),
      [idOf(3)]: idOf(1),
    });
    expect(withOtherSides(idOf(3), sides)).toEqual([idOf(3), idOf(1), idOf(2)]);
    expect(withOtherSides(idOf(4), sides)).toEqual([idOf(4)]);
  });
});

describe("selection", () => {
  const RULES = {
    fusion: "rrf",
    minScore: undefined,
    limit: undefined,
    maxPerSource: undefined,
    maxPerEvidence: undefined,
    vectorFailed: false,
  } as const;

  test("keeps the other side although others are better", () => {
    const ranking = [plain(1), claim(2, 5), plain(3), plain(4), claim(5, 2)];
    const { results, excluded } = select(ranking, { ...RULES, limit: 3 });

    expect(numbers(results)).toEqual([1, 2, 5]);
    expect(excluded.map(({ reason }) => reason)).toEqual(["result_limit", "result_limit"]);
  });

  test("leaves both out when only one has room, and fills the room with the next", () => {
    const ranking = [plain(1), claim(2, 3), claim(3, 2), plain(4)];
    const { results, excluded } = select(ranking, { ...RULES, limit: 2 });

    expect(numbers(results)).toEqual([1, 4]);
    expect(excluded.map(({ nodeId, reason }) => [nodeId, reason])).toEqual([
      [idOf(2), "one_sided"],
      [idOf(3), "one_sided"],
    ]);
  });

  test("leaves a claim out with the other side that does not reach the floor", () => {
    const weak = { ...claim(2, 1), semanticRelevance: 0.1 };
    const { results, excluded } = select([claim(1, 2), weak, plain(3)], {
      ...RULES,
      minScore: 0.4,
    });

    expect(numbers(results)).toEqual([3]);
    expect(excluded.map(({ reason }) => reason)).toEqual(["one_sided", "below_threshold"]);
  });

  test("keeps a claim whose other side no search found", () => {
    expect(numbers(select([claim(1, 9), plain(2)], RULES).results)).toEqual([1, 2]);
  });
});

describe("packing", () => {
  const long = "it goes on and on, ".repeat(30);
  const tokens = (...results: ResultCandidate[]) =>
    pack(results, tokenizer, packRules(100_000)).tokensUsed;

  test("packs both sides in place of better records", () => {
    const [one, other] = [claim(1, 9), claim(9, 1)];
    const between = [2, 3, 4].map((number) => plain(number, `${number} ${long}`));
    const budget = tokens(one, other) + 5;

    expect(packed(pack([one, ...between, other], tokenizer, packRules(budget)))).toEqual([1, 9]);
  });

  test("packs neither side when only one fits, and says why", () => {
    const [one, other] = [claim(1, 2), claim(2, 1, long)];
    const bundle = pack([one, other, plain(3)], tokenizer, packRules(tokens(one, plain(3)) + 5));

    expect(packed(bundle)).toEqual([3]);
    expect(bundle.oneSidedIds).toEqual([idOf(1)]);
    expect(bundle.renderedContext).not.toContain("claim");
  });

  test("shows both sides with their texts or both without", () => {
    const [one, other] = [claim(1, 2), claim(2, 1, long.repeat(9))];
    const rules = packRules(600, { contextFormat: "auditable" });
    const bundle = pack([one, other], tokenizer, rules);
    const levels = [...bundle.sections.values()].flat().map(({ representation }) => representation);

    expect(packed(bundle)).toEqual([1, 2]);
    expect(new Set(levels).size).toBe(1);
    expect(["key_value", "reference"]).toContain(levels[0] as string);
  });

  test("does not fold one side into a record that contains its text", () => {
    const evidence = { evidenceRefs: [idOf(99)] };
    const contested = { lifecycleState: "contested" } as const;
    const more = (other: number) => ({ conflictFlag: true, contradictsId: idOf(other) });
    const results = [
      record(1, "tea and more", { ...evidence, ...contested }),
      record(2, "tea", { ...evidence, ...contested }, more(3)),
      record(3, "coffee", contested, more(2)),
    ];

    expect(packed(pack(results, tokenizer, packRules(4096)))).toEqual([1, 2, 3]);
  });
});

test("no limit and no budget leaves one side of what was found", () => {
  const kinds = fc.constantFrom<Fusion["kind"]>("rrf", "relative", "adaptive", "weighted");
  const entry = fc.record({
    other: fc.option(fc.nat(11), { nil: undefined, freq: 2 }),
    words: fc.integer({ min: 1, max: 60 }),
    relevance: fc.constantFrom(0.2, 0.9),
    pinned: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.array(entry, { minLength: 2, maxLength: 12 }),
      fc.record({ fusion: kinds, limit: fc.nat(12), budget: fc.nat(700), floor: fc.boolean() }),
      fc.constantFrom("reader", "auditable", "compact"),
      (entries, { fusion, limit, budget, floor }, contextFormat) => {
        const ranking = entries.map(({ other, words, relevance, pinned }, number) => {
          const text = `${number} ${"word ".repeat(words)}`;
          const made =
            other === undefined || other === number
              ? plain(number, text)
              : claim(number, other, text);
          return { ...made, node: { ...made.node, pinned }, semanticRelevance: relevance };
        });
        const rules = { fusion, limit, minScore: floor ? 0.5 : undefined, vectorFailed: false };
        const caps = { maxPerSource: undefined, maxPerEvidence: undefined };
        const { results, excluded } = select(ranking, { ...rules, ...caps });
        const bundle = pack(results, tokenizer, packRules(budget, { contextFormat }));

        const sides = otherSides(ranking);
        for (const shown of [numbers(results), packed(bundle)]) {
          for (const number of shown) {
            const other = sides.get(idOf(number));
            if (other !== undefined) expect(shown).toContain(Number(other.slice(-12)));
          }
        }
        expect(results.length).toBeLessThanOrEqual(limit);
        expect(results.length + excluded.length).toBe(ranking.length);
        expect(bundle.tokensUsed).toBeLessThanOrEqual(budget);
        expect(tokenizer.count(bundle.renderedContext)).toBe(bundle.tokensUsed);
      },
    ),
    { numRuns: 400, seed: 19 },
  );
});

describe("an answer", () => {
  const fusions: readonly Fusion[] = [
    { kind: "weighted", recencyTime: undefined },
    { kind: "rrf", k: 60, recencyBoost: undefined, tieBreak: undefined },
    { kind: "relative", semanticShare: 0.6, recencyBoost: undefined, tieBreak: undefined },
    {
      kind: "adaptive",
      semanticShare: 0.7,
      fullCoverage: 0.8,
      recencyBoost: undefined,
      tieBreak: undefined,
    },
  ];

  test.each(fusions)(
    "shows both sides or neither, and its receipt says why: %j",
    async (fusion) => {
      const opened = await open({
        settings: { scoring: { ...DEFAULT_SETTINGS.scoring, fusion } },
      });
      const [hit, , other] = await remember(
        opened,
        { content: "Anna drinks green tea", nodeType: "fact", lifecycleState: "contested" },
        { content: "Anna drinks green tea at breakfast", nodeType: "fact" },
        {
          content: "She has had nothing but coffee",
          nodeType: "fact",
          lifecycleState: "contested",
        },
      );
      await link({ seed: seedInto(opened.pack) }, hit, other, { type: "contradicts" });

      const one = await ask(opened.engine, "Anna drinks green tea", { limit: 1 });
      const two = await ask(opened.engine, "Anna drinks green tea", { limit: 2 });

      expect(contentsOf(one.results)).toEqual(["Anna drinks green tea at breakfast"]);
      expect(contentsOf(two.results)).toEqual([
        "Anna drinks green tea",
        "She has had nothing but coffee",
      ]);
      const { requestId } = one.metadata;
      const explanation = await opened.engine.explain(requestId, "ada");
      expect(explanation?.notInContext).toContainEqual(
        expect.objectContaining({
          nodeId: hit?.id as never,
          stage: "selection",
          code: "one_sided",
          reason: {
            text: "it is contested or outdated, and the memory on the other side is not among the results",
            memory: undefined,
          },
        }),
      );
      const kept = await opened.engine.getRetrievalReceipt(requestId, "ada");
      expect(kept?.record.selectedOut).toHaveLength(2);
    },
  );

  test("has neither side in a context with room for one, and its receipt says why", async () => {
    const opened = await open();
    const [hit, other] = await remember(
      opened,
      { content: "Anna drinks green tea", nodeType: "fact", lifecycleState: "contested" },
      {
        content: `Anna drinks coffee. ${"She said so again and again. ".repeat(40)}`,
        nodeType: "fact",
        lifecycleState: "contested",
      },
    );
    await link({ seed: seedInto(opened.pack) }, hit, other, { type: "contradicts" });

    const { bundle, metadata } = await ask(opened.engine, "Anna drinks green tea", {
      tokenBudget: 200,
    });

    expect([...bundle.sections]).toEqual([]);
    const explanation = await opened.engine.explain(metadata.requestId, "ada");
    expect(explanation?.notInContext.map(({ nodeId, code }) => [nodeId, code])).toEqual([
      [hit?.id, "one_sided"],
      [other?.id, "token_budget"],
    ] as never);
  });
});
