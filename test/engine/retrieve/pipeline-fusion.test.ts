import { describe, expect, test } from "bun:test";
import { toEngineSettings } from "../../../src/app/engine-settings.ts";
import { CONFIG_SCHEMA } from "../../../src/config/schema.ts";
import type { EngineSettings } from "../../../src/engine/settings.ts";
import { retrieveView } from "../../../src/surface/contract/retrieval/answer.ts";
import { toldJson } from "../../surface/told.ts";
import { fullReceipt, type OpenedEngine, REAL_MODEL, useEngines } from "../engines.ts";
import { ask, contentsOf, fillWorld, remember, withSettings } from "./pipeline-world.ts";

const { open } = useEngines({ upkeep: undefined });

/** The settings of somebody who sets these scoring settings, and wants memories to stay as they are. */
function configured(scoring: Readonly<Record<string, unknown>>): EngineSettings {
  const organizer = { opportunistic_enabled: false };
  return toEngineSettings(
    CONFIG_SCHEMA.parse({ scoring, organizer, receipts: { detail: "full" } }),
  );
}

const FUSIONS = ["rrf", "weighted", "relative"] as const;

function enginesOf(opened: OpenedEngine) {
  const of = (fusion: (typeof FUSIONS)[number], more = {}) =>
    withSettings(opened, configured({ fusion, ...more }));
  return { rrf: of("rrf"), weighted: of("weighted"), relative: of("relative"), of };
}

/** An exact answer, one that is near it, and one that is far away. */
const NEAR_AND_FAR = [
  { content: "The dog Biscuit is afraid of thunder.", second: 1 },
  { content: "Thunder frightens many animals.", second: 2 },
  { content: "The quarterly report is due in April.", second: 3 },
];
const QUESTION = "Is the dog Biscuit afraid of thunder?";

describe("the fusion that is chosen by the settings", () => {
  test("decides the scores, not what is found", async () => {
    const opened = await open({ embedder: REAL_MODEL });
    await remember(opened, ...NEAR_AND_FAR);
    const engines = enginesOf(opened);

    const answers = await Promise.all(FUSIONS.map((name) => ask(engines[name], QUESTION)));
    const scores = answers.map(({ results }) => results.map((result) => result.compositeScore));

    for (const { results, metadata } of answers) {
      expect(contentsOf(results)).toEqual(NEAR_AND_FAR.map(({ content }) => content));
      expect(metadata.candidatesGenerated).toEqual(
        answers[0]?.metadata.candidatesGenerated as never,
      );
    }
    const [rrf = [], weighted = [], relative = []] = scores;
    // Ranks: what is second in both is nearly as good as the first.
    expect(rrf[0]).toBeCloseTo(1, 9);
    expect(rrf[1]).toBeWithin(0.9, 1);
    // Signals: the last one has nothing of its own.
    expect(relative[0]).toBeCloseTo(1, 9);
    expect(relative[1]).toBeWithin(0.05, 0.8);
    expect(relative[2]).toBeWithin(0, 0.1);
    // The sum of all signals, below the relevance floor no more than words and meaning.
    expect(weighted[0]).toBeWithin(0.5, 1);
    const [, , far] = answers[1]?.results ?? [];
    expect(far?.compositeScore).toBeWithin(0, 0.7);
    expect(answers.map(({ results }) => results[0]?.provenance.formulaVersion)).toEqual([2, 1, 3]);
    expect(new Set(answers.map(({ metadata }) => metadata.scoringConfigVersion)).size).toBe(3);
  });

  test("relative, looks at more candidates unless a number is set", () => {
    const kOf = (fusion: string, packing = {}) => {
      const { vectorK, lexicalK } = toEngineSettings(
        CONFIG_SCHEMA.parse({ scoring: { fusion }, packing }),
      ).packing;
      return [vectorK, lexicalK];
    };
    expect(kOf("relative")).toEqual([300, 300]);
    expect(kOf("rrf")).toEqual([50, 50]);
    expect(kOf("weighted")).toEqual([50, 50]);
    expect(kOf("relative", { vector_k: 7 })).toEqual([7, 300]);
  });

  test("weighted, compares the floor with the score and shows no relevance anywhere", async () => {
    const opened = await open();
    await fillWorld(opened);
    const engines = enginesOf(opened);
    const relevances: boolean[] = [];
    for (const name of FUSIONS) {
      const answer = await ask(engines[name], "Which hotel in Lisbon?", { limit: 5 });
      const wire = toldJson(retrieveView, answer);
      const kept = await engines[name].getRetrievalReceipt(answer.metadata.requestId, "ada");
      expect(wire.results).toHaveLength(5);
      relevances.push(
        JSON.stringify(wire).includes('"semantic_relevance"'),
        kept?.text.includes('"semantic_relevance"') ?? false,
        answer.excluded.some(({ semanticRelevance }) => semanticRelevance !== undefined),
      );
    }
    expect(relevances).toEqual([true, true, true, false, false, false, true, true, true]);

    const all = await ask(engines.weighted, "Which hotel in Lisbon?");
    const third = all.results[2]?.compositeScore ?? 0;
    const above = await ask(engines.weighted, "Which hotel in Lisbon?", { minScore: third });
    expect(above.results).toEqual(all.results.slice(0, 3));
    const fused = await ask(engines.rrf, "Which hotel in Lisbon?", { minScore: 0.5 });
    expect(fused.results.every(({ semanticRelevance }) => semanticRelevance >= 0.5)).toBe(true);
    expect(
      fused.excluded.every(
        ({ semanticRelevance = 0, reason }) =>
          reason !== "below_threshold" || semanticRelevance < 0.5,
      ),
    ).toBe(true);
  });

  test("gives way to the weights of a request", async () => {
    const opened = await open();
    await fillWorld(opened);
    const engines = enginesOf(opened);
    const weights = configured({ fusion: "relative" }).scoring;

    const own = await ask(engines.relative, "Which hotel in Lisbon?");
    const given = await ask(engines.weighted, "Which hotel in Lisbon?", { weights });

    expect(given.metadata.scoringConfigVersion).toBe(own.metadata.scoringConfigVersion);
    // The depth of the searches is a setting of its own, and here each reaches everything.
    expect(given.results).toEqual(own.results);
    expect(given.bundle.renderedContext).toBe(own.bundle.renderedContext);
    const kept = await fullReceipt(engines.weighted, given);
    expect(kept.receipt.scoring).toEqual(weights);
  });
});

describe("a question in or around a pasted log", () => {
  const log = Array.from(
    { length: 40 },
    (_, line) => `08:00:${line + 10} WARN [worker-3] connection to upstream reset, attempt ${line}`,
  ).join("\n");
  const asks = "Which pet is frightened by storms?";

  test.each([
    ["behind it", `${log}\n${asks}`],
    ["before it", `${asks}\n${log}`],
  ])("finds %s what it finds alone, by either fusion", async (_, query) => {
    const opened = await open({ embedder: REAL_MODEL });
    const others = Array.from({ length: 12 }, (_, second) => ({
      content: `The bakery number ${second} opens at six and has fresh bread.`,
      second: 10 + second,
    }));
    await remember(opened, ...NEAR_AND_FAR, ...others);
    const { rrf, relative } = enginesOf(opened);

    for (const engine of [rrf, relative]) {
      const [alone] = (await ask(engine, asks)).results;
      const [best] = (await ask(engine, query)).results;
      expect(best?.node.content).toBe(alone?.node.content);
      expect(best?.strength).toBe("strong");
    }
  });
});
