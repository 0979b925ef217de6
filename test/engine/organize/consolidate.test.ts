import { describe, expect, test } from "bun:test";
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

async function opened(given: Partial<EngineOptions> = {}) {
  const clock = testClock("2026-03-01T12:00:00Z");
  const settings = { organizer: EXTRACTIVE };
  return { ...(await open({ clock, embedder: wordEmbedder(), settings, ...given })), clock };
}
type World = OpenedEngine & { readonly clock: ReturnType<typeof testClock> };

const consolidate = (world: OpenedEngine) => runJob(world, "consolidate");

const GARDEN = "The garden behind the house needs water in the evening when the sun is gone";

/** Memories that mean nearly the same. */
async function alike(
  { engine }: OpenedEngine,
  count: number,
  given: Partial<StoreInput> = {},
): Promise<MemoryNode[]> {
  const nodes: MemoryNode[] = [];
  for (let at = 0; at < count; at += 1) {
    nodes.push(
      await remember(engine, `${GARDEN}${" too".repeat(at % 3)}`, { nodeType: "fact", ...given }),
    );
  }
  return nodes;
}

/** Long after what was stored, so that no member is preserved because it is new. */
function later({ clock }: World): void {
  clock.set("2026-04-01T12:00:00Z");
}

const DOUBTFUL = { confidence: 0.5 } as const;

describe("memories that mean nearly the same", () => {
  test("get a summary that quotes the surest, and those that are old and doubtful are replaced by it", async () => {
    const world = await opened();
    const nodes = [
      ...(await alike(world, 1, { confidence: 0.9 })),
      ...(await alike(world, 2, { confidence: 0.6 })),
      ...(await alike(world, 2, DOUBTFUL)),
    ];
    await remember(world.engine, "Something else altogether", { nodeType: "fact", ...DOUBTFUL });
    later(world);

    expect(await consolidate(world)).toEqual({
      nodesProcessed: 5,
      nodesModified: 3,
      errors: 0,
      details: {
        clusters_found: 1,
        nodes_consolidated: 5,
        nodes_archived: 2,
        summaries_created: 1,
      },
    });

    const [summary, ...others] = await summariesOf(world);
    expect(others).toEqual([]);
    const now = await Promise.all(nodes.map(({ id }) => reread(world.engine, id)));
    expect(now.map(({ lifecycleState, supersededBy }) => [lifecycleState, supersededBy])).toEqual([
      ["tentative", undefined],
      ["superseded", summary?.id],
      ["superseded", summary?.id],
      ["tentative", undefined],
      ["tentative", undefined],
    ]);
    for (const { content } of nodes.slice(0, 3)) expect(summary?.content).toContain(content);
    expect(summary).toMatchObject({
      lifecycleState: "tentative",
      decayProfile: "fast",
      confidence: 0.7,
      metadata: {
        cluster_size: 5,
        source_node_ids: nodes.map(({ id }) => id).sort(),
        selected_source_node_ids: nodes.slice(0, 3).map(({ id }) => id),
        consolidation_format_version: 2,
      },
    });
    expect(await world.engine.chain(nodes[1]?.id ?? "")).toMatchObject([{ id: summary?.id }]);
    const provenance = await world.engine.getProvenance(nodes[1]?.id ?? "");
    expect(provenance?.operations.map(({ opType }) => opType)).toContain("CONSOLIDATION_RETIRED");
  });

  test("are summed up once", async () => {
    const world = await opened();
    await alike(world, 5, DOUBTFUL);
    later(world);
    await consolidate(world);

    expect((await consolidate(world)).nodesModified).toBe(0);
    expect((await world.engine.organize({ jobs: ["consolidate"] })).jobsRun).toEqual([
      "consolidate",
    ]);
    expect(await summariesOf(world)).toHaveLength(1);
  });

  test.each<[string, Partial<StoreInput>, boolean]>([
    ["that are sure", { confidence: 0.8 }, true],
    ["that are new", DOUBTFUL, false],
  ])("stay beside the summary: %s", async (_, given, isOld) => {
    const world = await opened();
    const nodes = await alike(world, 3, given);
    if (isOld) later(world);

    expect(await consolidate(world)).toMatchObject({
      details: { nodes_archived: 0, summaries_created: 1 },
    });
    const now = await Promise.all(nodes.map(({ id }) => reread(world.engine, id)));
    expect(now.map(({ lifecycleState }) => lifecycleState)).toEqual(Array(3).fill("tentative"));
  });

  test("are replaced once they are old enough, by the summary of when they were new", async () => {
    const world = await opened();
    const nodes = await alike(world, 3, DOUBTFUL);
    const states = async () => {
      const now = await Promise.all(nodes.map(({ id }) => reread(world.engine, id)));
      return now.map(({ lifecycleState }) => lifecycleState);
    };
    await consolidate(world);
    world.clock.set("2026-03-08T11:00:00Z");
    expect((await consolidate(world)).details?.["nodes_archived"]).toBe(0);
    const pinned = nodes[0]?.id ?? "";
    await world.engine.pin(pinned, true, { userId: "ada" });

    world.clock.set("2026-03-08T15:00:00Z");
    expect((await consolidate(world)).details).toMatchObject({
      nodes_archived: 2,
      summaries_created: 0,
    });
    expect(await states()).toEqual(["tentative", "superseded", "superseded"]);
    const [summary, ...others] = await summariesOf(world);
    expect(others).toEqual([]);
    expect(await world.engine.chain(nodes[1]?.id ?? "")).toMatchObject([{ id: summary?.id }]);

    world.clock.set("2026-03-31T12:00:00Z");
    expect((await consolidate(world)).nodesModified).toBe(0);
  });

  test("are left alone if they are too few, of other scopes, or of other owners", async () => {
    const world = await opened();
    await alike(world, 2, DOUBTFUL);
    await alike(world, 2, { ...DOUBTFUL, scope: "project" });
    await alike(world, 2, { ...DOUBTFUL, userId: "bob" });
    later(world);

    expect((await consolidate(world)).nodesProcessed).toBe(0);
    expect(await summariesOf(world)).toEqual([]);
  });
});

test("a summary that quotes what somebody retired is made again from the rest", async () => {
  const world = await opened();
  const nodes = await alike(world, 4, DOUBTFUL);
  const [sure] = await alike(world, 1, { confidence: 0.9 });
  later(world);
  await consolidate(world);
  const [before] = await summariesOf(world);

  await world.engine.archive(sure?.id ?? "", { userId: "ada" });
  expect((await consolidate(world)).details["summaries_created"]).toBe(1);

  const [after, ...others] = await summariesOf(world);
  expect(others).toEqual([]);
  expect(after?.metadata?.["source_node_ids"]).toEqual(nodes.map(({ id }) => id).sort());
  expect((await reread(world.engine, before?.id ?? "")).lifecycleState).toBe("archived");
  const replaced = (await Promise.all(nodes.map(({ id }) => reread(world.engine, id)))).filter(
    ({ lifecycleState }) => lifecycleState === "superseded",
  );
  expect(replaced.length).toBeGreaterThan(0);
  expect(replaced.every(({ supersededBy }) => supersededBy === after?.id)).toBe(true);
  expect((await consolidate(world)).nodesModified).toBe(0);
});

test("a summary of which nothing remains is archived", async () => {
  const world = await opened();
  const nodes = await alike(world, 3, { confidence: 0.9 });
  await consolidate(world);
  for (const { id } of nodes) await world.engine.archive(id, { userId: "ada" });

  await consolidate(world);

  expect(await summariesOf(world)).toEqual([]);
});

test("what a language model shortened is not replaced by its summary", async () => {
  const summaryModel = scriptedModel((records) => ({
    sentences: records.map(({ source }) => ({
      source,
      text: "The garden needs water in the evening",
    })),
  }));
  const world = await opened({ settings: {}, models: { summaryModel } });
  await alike(world, 3, DOUBTFUL);
  later(world);

  expect(await consolidate(world)).toMatchObject({
    details: { nodes_archived: 0, summaries_created: 1 },
  });
  const [summary] = await summariesOf(world);
  expect(summary?.content).toContain("The garden needs water in the evening");
});

test("a dry run lists the summary and what it would retire, and asks no model", async () => {
  const summaryModel = scriptedModel(() => ({ sentences: [] }));
  const world = await opened({ models: { summaryModel } });
  const nodes = await alike(world, 3, DOUBTFUL);
  later(world);

  const { wouldChange } = await world.engine.organize({ jobs: ["consolidate"], dryRun: true });

  const operations = wouldChange?.changes.map(({ operation }) => operation);
  expect(operations).toEqual([
    "CONSOLIDATION_PREPARED",
    "CONSOLIDATION_PUBLISHED",
    ...nodes.map(() => "CONSOLIDATION_RETIRED"),
  ]);
  expect(summaryModel.asked).toEqual([]);
  expect(await summariesOf(world)).toEqual([]);
});

test("a dry run shows the text of what would be made, and of what would be merged", async () => {
  const world = await opened();
  await alike(world, 3, { confidence: 0.9 });
  for (const content of ["JS", "JavaScript"]) {
    await remember(world.engine, content, { nodeType: "entity" });
  }
  later(world);

  const { wouldChange } = await world.engine.organize({
    jobs: ["consolidate", "alias_resolve"],
    dryRun: true,
  });

  expect(wouldChange?.changes).toMatchObject([
    { operation: "CONSOLIDATION_PREPARED", userId: "ada", from: undefined, to: "tentative" },
    { operation: "CONSOLIDATION_PUBLISHED", content: expect.stringContaining("The garden") },
    { operation: "ORGANIZER_MERGED", userId: "ada", content: "JS" },
  ]);
});

/** An embedder that does something once, right before the text of a summary is embedded. */
function interrupted() {
  const words = wordEmbedder();
  let once: (() => Promise<unknown>) | undefined;
  const embedDocument = async (text: string) => {
    const now = text.startsWith("[") ? once : undefined;
    if (now !== undefined) once = undefined;
    await now?.();
    return words.embedDocument(text);
  };
  const set = (work: () => Promise<unknown>) => {
    once = work;
  };
  return { embedder: { ...words, embedDocument }, set };
}

test("a member that changes while the summary is made makes it stale; the next run uses what is there", async () => {
  const { embedder, set } = interrupted();
  const world = await opened({ embedder });
  const [first] = await alike(world, 4, DOUBTFUL);
  later(world);
  set(() => world.engine.archive(first?.id ?? "", { userId: "ada" }));

  expect(await consolidate(world)).toMatchObject({ nodesModified: 0, errors: 1 });
  expect(await summariesOf(world)).toEqual([]);
  expect(world.warnings).toEqual([
    "organize: a group of memories was not summed up (stale_consolidation)",
  ]);

  expect(await consolidate(world)).toMatchObject({ details: { summaries_created: 1 }, errors: 0 });
  const [summary] = await summariesOf(world);
  expect(summary?.metadata?.["source_node_ids"]).not.toContain(first?.id);
});

test("a group of which the language model does not answer gets its summary from the next run", async () => {
  let isAway = true;
  const summaryModel = scriptedModel((records) => {
    if (isAway) throw new SvcError("model_failed", "no");
    return { sentences: records.map(({ source, content }) => ({ source, text: content })) };
  });
  const world = await opened({ settings: {}, models: { summaryModel } });
  await alike(world, 3, DOUBTFUL);
  later(world);
  expect(await consolidate(world)).toMatchObject({ nodesModified: 0, errors: 1 });

  isAway = false;

  expect(await consolidate(world)).toMatchObject({ details: { summaries_created: 1 }, errors: 0 });
});

test("a group of which the language model invents everything gets no summary, and is asked about once", async () => {
  const summaryModel = scriptedModel((records) => ({
    sentences: records.map(({ source }) => ({ source, text: "The garden is full of roses" })),
  }));
  const world = await opened({ settings: {}, models: { summaryModel } });
  const nodes = await alike(world, 3, DOUBTFUL);
  later(world);

  expect(await consolidate(world)).toMatchObject({ nodesModified: 0, errors: 0 });
  await consolidate(world);

  expect(summaryModel.asked).toHaveLength(1);
  expect(await summariesOf(world)).toEqual([]);
  const now = await Promise.all(nodes.map(({ id }) => reread(world.engine, id)));
  expect(now.map(({ lifecycleState }) => lifecycleState)).toEqual(Array(3).fill("tentative"));
});
