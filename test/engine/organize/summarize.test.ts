import { describe, expect, test } from "bun:test";
import { openChecksummed } from "../../../src/domain/checksummed.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import type { MemoryNode } from "../../../src/domain/node.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import {
  type EngineOptions,
  type OpenedEngine,
  testClock,
  useEngines,
  wordEmbedder,
} from "../engines.ts";
import { remember, reread } from "../lifecycle/memories.ts";
import { EXTRACTIVE, runJob, scriptedModel, summariesOf } from "./summaries.ts";

const { open } = useEngines();

async function opened(given: Partial<EngineOptions> = {}): Promise<OpenedEngine> {
  const settings = { organizer: EXTRACTIVE };
  return open({ clock: testClock(), embedder: wordEmbedder(), settings, ...given });
}

/** So many memories of a day. */
async function fill(
  world: OpenedEngine,
  day: string,
  count = 5,
  given: Partial<StoreInput> = {},
): Promise<MemoryNode[]> {
  const nodes: MemoryNode[] = [];
  for (let at = 0; at < count; at += 1) {
    const eventTime = `${day}T1${at % 10}:00:00Z`;
    nodes.push(await remember(world.engine, `Memory ${at} of ${day}`, { eventTime, ...given }));
  }
  return nodes;
}

const summarize = (world: OpenedEngine) => runJob(world, "summarize");

describe("a day with enough memories", () => {
  test("gets a summary that quotes its weightiest memories", async () => {
    const world = await opened();
    const nodes = await fill(world, "2026-03-02", 12);

    expect(await summarize(world)).toEqual({
      nodesProcessed: 1,
      nodesModified: 1,
      errors: 0,
      details: {
        daily: { level: "daily", periods: 1, published: 1 },
        weekly: { level: "weekly", periods: 0, published: 0 },
        monthly: { level: "monthly", periods: 0, published: 0 },
      },
    });

    const [summary, ...others] = await summariesOf(world);
    if (summary === undefined) throw new Error("there is no summary");
    expect(others).toEqual([]);
    const [header, ...lines] = summary.content.split("\n");
    expect(header).toBe("[daily summary 2026-03-02: selected excerpts, not exhaustive]");
    const quoted = lines.map((line) => JSON.parse(line));
    const byId = new Map(nodes.map((node) => [node.id as string, node]));
    expect(quoted).toHaveLength(10);
    for (const { source_id: id, content, event_time: at } of quoted) {
      expect([byId.get(id)?.content, byId.get(id)?.eventTime]).toEqual([content, at]);
    }
    expect(summary).toMatchObject({
      userId: "ada",
      nodeType: "summary",
      lifecycleState: "stable",
      epistemicType: "inferred",
      sourceType: "system_inferred",
      decayProfile: "slow",
      ttlDays: undefined,
      confidence: nodes[0]?.confidenceBase,
      metadata: {
        consolidation_summary: true,
        consolidation_generation: 1,
        summary_publication_kind: "hierarchical_source_excerpts_v2",
        summarization_level: "daily",
        summary_format: "source-excerpts-v1",
        period_key: "2026-03-02",
        source_count: 12,
        source_node_ids: nodes.map(({ id }) => id).sort(),
        selected_source_node_ids: quoted.map(({ source_id }) => source_id),
      },
    });
    const [first] = quoted;
    expect(summary.evidenceRefs.slice(0, 2)).toEqual([
      ...(byId.get(first?.source_id)?.evidenceRefs ?? []),
      first?.source_id,
    ]);
    expect(await world.engine.neighborhood(summary.id, { maxHops: 1 })).toHaveLength(10);
    const found = await world.engine.retrieve({ query: "summary of 2026-03-02", userId: "ada" });
    expect(found.results.map((result) => result.node.id)).toContain(summary.id);
  });

  test("keeps it while nothing changes, and gets another one when something does", async () => {
    const world = await opened();
    const [first] = await fill(world, "2026-03-02", 6);
    await summarize(world);
    const [summary] = await summariesOf(world);

    expect((await summarize(world)).nodesModified).toBe(0);
    expect(await summariesOf(world)).toEqual([summary] as MemoryNode[]);
    await remember(world.engine, "One more", { eventTime: "2026-03-02T09:00:00Z" });
    expect((await summarize(world)).nodesModified).toBe(1);
    const [second, ...others] = await summariesOf(world);
    expect(others).toEqual([]);
    expect(second?.content).toContain("One more");
    expect(second?.metadata?.["consolidation_generation"]).toBe(2);
    expect((await reread(world.engine, summary?.id ?? "")).lifecycleState).toBe("archived");
    // A memory that somebody retires leaves the summary that quotes it.
    await world.engine.archive(first?.id ?? "", { userId: "ada" });
    expect((await summarize(world)).nodesModified).toBe(1);
    const [third] = await summariesOf(world);
    expect(third?.content).not.toContain(first?.content ?? "?");
    expect((await summarize(world)).nodesModified).toBe(0);
  });

  test.each([
    ["a year", "2027-03-18T12:00:00Z"],
    ["an hour", "2026-03-18T13:00:00Z"],
  ])(
    "loses what somebody retired, though the clock was %s ahead at the last run",
    async (_, ahead) => {
      const clock = testClock();
      const world = await opened({ clock });
      const [first] = await fill(world, "2026-03-02", 6);
      clock.set(ahead);
      await summarize(world);
      clock.set("2026-03-18T12:30:00Z");
      await world.engine.archive(first?.id ?? "", { userId: "ada" });
      // The hour has passed.
      clock.set("2026-03-18T14:00:00Z");

      expect((await summarize(world)).nodesModified).toBe(1);

      const [summary] = await summariesOf(world);
      expect(summary?.content).not.toContain(first?.content ?? "?");
    },
  );

  test("leaves records of what was planned and what came of it", async () => {
    const world = await opened();
    await fill(world, "2026-03-02");
    await summarize(world);
    const [summary] = await summariesOf(world);

    const provenance = await world.engine.getProvenance(summary?.id ?? "");
    const records = provenance?.operations ?? [];

    expect(records.map(({ opType, actorId }) => [opType, actorId]).sort()).toEqual([
      ["CONSOLIDATION_PREPARED", "ada"],
      ["CONSOLIDATION_PUBLISHED", "consolidation"],
    ]);
    const published = records.find(({ opType }) => opType === "CONSOLIDATION_PUBLISHED");
    expect(openChecksummed(published?.payload ?? {})["summary"]).toMatchObject({
      id: summary?.id,
      content: summary?.content,
    });
  });

  test("is not summed up with another owner's, or another scope's", async () => {
    const world = await opened();
    await fill(world, "2026-03-02", 4);
    await fill(world, "2026-03-02", 4, { userId: "bob" });
    await fill(world, "2026-03-02", 4, { scope: "project" });

    expect((await summarize(world)).nodesProcessed).toBe(0);
    expect(await summariesOf(world)).toEqual([]);
  });
});

test("weeks sum up days, and months sum up weeks", async () => {
  const world = await opened();
  // Weeks 10 and 11 of 2026, and Monday to Wednesday of week 53 of 2020, which ends in 2021.
  for (const day of ["02", "03", "04", "09", "10", "11"]) await fill(world, `2026-03-${day}`);
  for (const day of ["2020-12-31", "2021-01-01", "2021-01-02"]) await fill(world, day);

  const { details } = await summarize(world);

  expect(details["weekly"]).toEqual({ level: "weekly", periods: 3, published: 3 });
  expect(details["monthly"]).toEqual({ level: "monthly", periods: 1, published: 1 });
  const keys = (await summariesOf(world)).map(({ metadata }) => metadata?.["period_key"]);
  expect(keys).toContain("2020-W53");
  expect(keys).toContain("2026-W10");
  expect(keys).toContain("2026-03");
  expect((await summarize(world)).nodesModified).toBe(0);
});

describe("with a language model", () => {
  const real = "Anna moved to Lisbon in May 2026. She does not like the tram.";
  async function withModel(sentences: readonly { source: number; text: string }[]) {
    const summaryModel = scriptedModel((records) => {
      const at = records.findIndex(({ content }) => content === real) + 1;
      return { sentences: sentences.map(({ source, text }) => ({ source: source + at, text })) };
    });
    const world = await opened({ settings: {}, models: { summaryModel } });
    await remember(world.engine, real, { eventTime: "2026-03-02T08:00:00Z" });
    await fill(world, "2026-03-02");
    return { world, summaryModel };
  }

  test("a summary shows the sentences that it chose", async () => {
    const { world, summaryModel } = await withModel([
      { source: 0, text: "Anna moved to Lisbon in May 2026." },
    ]);
    await summarize(world);

    const [summary] = await summariesOf(world);
    const [header, line, ...others] = summary?.content.split("\n") ?? [];
    expect(header).toContain("sentences selected by a language model");
    expect(JSON.parse(line ?? "{}").content).toBe("Anna moved to Lisbon in May 2026.");
    expect(others).toEqual([]);
    expect(summary?.metadata?.["summary_format"]).toBe("model-sentences-v1");
    await summarize(world);
    expect(summaryModel.asked).toHaveLength(1);
  });

  test.each([
    ["a number is another one", "Anna moved to Lisbon in May 2027."],
    ["a name is another one", "Anna moved to Porto in May 2026."],
    ["a denial is left out", "She does like the tram."],
    ["words change places", "Lisbon moved to Anna in May 2026."],
    ["it joins two sentences", "Anna does not like the tram."],
    ["it says more", "Anna moved happily to Lisbon in May 2026."],
    ["it is empty", " "],
  ])("a sentence is dropped if %s", async (_, text) => {
    const { world } = await withModel([{ source: 0, text }]);

    expect((await summarize(world)).nodesModified).toBe(0);
    expect(await summariesOf(world)).toEqual([]);
  });

  test("a sentence of another memory, or of none, is dropped", async () => {
    const { world } = await withModel([
      { source: 1, text: "Anna moved to Lisbon in May 2026." },
      { source: 99, text: "Anna moved to Lisbon in May 2026." },
    ]);

    expect((await summarize(world)).nodesModified).toBe(0);
  });

  test("that fails, the level counts an error and nothing is published", async () => {
    const summaryModel = scriptedModel(() => {
      throw new SvcError("model_failed", "no");
    });
    const world = await opened({ settings: {}, models: { summaryModel } });
    await fill(world, "2026-03-02");

    expect(await summarize(world)).toMatchObject({ nodesModified: 0, errors: 1 });
    expect(await summariesOf(world)).toEqual([]);
  });
});

test("without a model and without the setting the job says why it does nothing", async () => {
  const world = await opened({ settings: {} });
  await fill(world, "2026-03-02");

  const result = await world.engine.organize({ jobs: ["summarize", "consolidate"] });

  expect(result.jobsSkipped).toEqual(["summarize", "consolidate"]);
  expect(result.skippedBecause).toEqual({
    summarize: "no_language_model",
    consolidate: "no_language_model",
  });
});

test("a source that changes while a summary is made makes it stale; the next run uses what is there", async () => {
  const words = wordEmbedder();
  let meanwhile: (() => Promise<unknown>) | undefined;
  const embedder = {
    ...words,
    embedDocument: async (text: string) => {
      const change = text.startsWith("[daily") ? meanwhile : undefined;
      meanwhile = change === undefined ? meanwhile : undefined;
      await change?.();
      return words.embedDocument(text);
    },
  };
  const world = await opened({ embedder });
  const [first] = await fill(world, "2026-03-02", 6);
  meanwhile = () => world.engine.archive(first?.id ?? "", { userId: "ada" });

  expect(await summarize(world)).toMatchObject({ nodesModified: 0, errors: 1 });
  expect(await summariesOf(world)).toEqual([]);
  expect(world.warnings).toEqual([
    "organize: the summary daily:personal:2026-03-02 was not published (stale_consolidation)",
  ]);

  // The next run comes back to that day, without a new memory of it.
  expect(await summarize(world)).toMatchObject({ nodesModified: 1, errors: 0 });
  const [summary] = await summariesOf(world);
  expect(summary?.content).not.toContain(first?.content ?? "?");
});
