import { expect, test } from "bun:test";
import fc from "fast-check";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import { DEFAULT_SETTINGS, type OpenedEngine, useEngines } from "../engines.ts";
import { agingPacks } from "./aging.ts";
import { EXTRACTIVE } from "./summaries.ts";

const { open } = useEngines();
const aged = agingPacks(open, { fading: "original" });

const LATER = "2026-07-20T12:00:00Z";
const JOBS = [
  "promote",
  "decay_sweep",
  "archive",
  "deduplicate",
  "alias_resolve",
  "summarize",
  "tombstone_sweep",
  "snapshot_generation",
  "consolidate",
  "index_compaction",
] as const;

/** Memories of two owners: repeats, names of one thing, things that fade, and things that are kept. */
const MEMORIES: readonly Partial<StoreInput>[] = ["ada", "bob"].flatMap((userId) => [
  ...[1, 2].map(() => ({
    userId,
    content: "The spare key is under the pot",
    ttlDays: null,
    nodeType: "fact" as const,
    validFrom: "2026-01-01T00:00:00Z",
    eventTime: "2026-01-01T00:00:00Z",
  })),
  ...["postgres", "PostgreSQL"].map((content) => ({
    userId,
    content,
    nodeType: "entity" as const,
  })),
  ...[1, 2, 3, 4, 5, 6].map((day) => ({ userId, content: `Walked ${day} miles`, ttlDays: 500 })),
  { userId, content: "Perhaps it rains", ttlDays: null, epistemicType: "hypothetical" as const },
  { userId, content: "A note of the day", ttlDays: 1 },
]);

/** Days of which many memories are told, some of them in nearly the same words. */
const TOLD = [1, 2, 3, 8, 9, 10].flatMap((day) => [
  ...["", " too", " as well"].map((more) => ({
    content: `The garden behind house ${day} needs water in the evening${more}`,
    eventTime: `2026-02-${String(day).padStart(2, "0")}T10:00:00Z`,
  })),
  ...[1, 2, 3, 4, 5, 6].map((bird) => ({
    content: `Ann saw ${bird * day} birds at lake ${bird}`,
    eventTime: `2026-02-${String(day).padStart(2, "0")}T11:00:00Z`,
  })),
]);

const TOLD_TOO: readonly Partial<StoreInput>[] = [
  ...MEMORIES,
  ...TOLD.map((one) => ({ ...one, nodeType: "fact" as const, confidence: 0.5, ttlDays: null })),
];

async function nodesOf({ engine }: OpenedEngine) {
  const states = [
    "tentative",
    "stable",
    "contested",
    "superseded",
    "deprecated",
    "archived",
  ] as const;
  return (
    await Promise.all(
      ["ada", "bob"].map((userId) =>
        Array.fromAsync(engine.iterNodes({ userId, lifecycleStates: [...states] })),
      ),
    )
  ).flat();
}

/** What holds whatever the organizer did. */
async function expectOrder(one: OpenedEngine): Promise<void> {
  const nodes = await nodesOf(one);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  for (const node of nodes) {
    const { operations = [] } = (await one.engine.getProvenance(node.id)) ?? {};
    const isRetired = node.lifecycleState === "archived" || node.lifecycleState === "superseded";
    if (isRetired) expect(operations.length).toBeGreaterThan(0);
    const seen = new Set([node.id]);
    for (let next = node.supersededBy; next !== undefined; next = byId.get(next)?.supersededBy) {
      expect(seen.has(next)).toBe(false);
      seen.add(next);
      expect(byId.get(next)?.userId).toBe(node.userId);
    }
  }
  expect(await one.store.sweepIndexes(ALL_OWNERS, 0)).toEqual({ found: 0, removed: 0 });
}

test("whatever the order of jobs, no owner is crossed, what is retired has its record, and replacements end", async () => {
  const orders = fc.sample(fc.shuffledSubarray([...JOBS], { minLength: 4 }), {
    seed: 7,
    numRuns: 2,
  });
  for (const jobs of orders) {
    const one = await aged(TOLD_TOO, { later: LATER, settings: { organizer: EXTRACTIVE } });
    const { jobsSkipped } = await one.engine.organize({ jobs, budgetMs: 60_000 });
    expect(jobsSkipped).toEqual([]);
    await expectOrder(one);
  }
}, 120_000);

test.each([
  { name: "without summaries", memories: MEMORIES, organizer: DEFAULT_SETTINGS.organizer },
  {
    name: "with summaries of days, weeks and groups",
    memories: TOLD_TOO,
    organizer: EXTRACTIVE,
  },
])(
  "what a run has put in order, the next one leaves as it is: $name",
  async (given) => {
    const { memories } = given;
    const organizer = { ...given.organizer, fading: "original" as const };
    const one = await aged(memories, { later: LATER, settings: { organizer } });
    const first = await one.engine.organize({ budgetMs: 60_000 });
    const done = Object.values(first.perJob).filter(({ nodesModified }) => nodesModified > 0);
    const before = await nodesOf(one);

    const { perJob } = await one.engine.organize({ budgetMs: 60_000 });

    expect(done.length).toBeGreaterThanOrEqual(organizer.extractiveSummaries ? 6 : 4);
    const changing = Object.values(perJob).filter(
      ({ job, nodesModified }) => job !== "snapshot_generation" && nodesModified > 0,
    );
    expect(changing).toEqual([]);
    expect(await nodesOf(one)).toEqual(before);
  },
  120_000,
);

test("two engines that organize one pack at the same time change each memory once", async () => {
  const one = await aged(MEMORIES, { later: LATER });
  const { pack, clock } = one;
  const two = await open({ pack, clock, settings: { upkeep: undefined } });
  const jobs = ["promote", "decay_sweep", "tombstone_sweep"];

  const results = await Promise.all(
    [one, two, one].map(({ engine }) => engine.organize({ jobs, budgetMs: 60_000 })),
  );

  expect(results.flatMap(({ jobsSkipped }) => jobsSkipped)).toEqual([]);
  for (const { id } of await nodesOf(one)) {
    const { operations = [] } = (await one.engine.getProvenance(id)) ?? {};
    const actions = operations.filter(({ opType }) => opType === "LIFECYCLE_CHANGED").length;
    expect(actions).toBeLessThanOrEqual(2);
  }
  await expectOrder(one);
}, 120_000);

test("a clock that was set back changes nothing, and one that jumps ahead loses nothing", async () => {
  const one = await aged(MEMORIES, { later: "2020-01-01T00:00:00Z" });
  const before = await nodesOf(one);
  await one.engine.organize({ jobs: ["promote", "decay_sweep", "archive", "tombstone_sweep"] });
  expect(await nodesOf(one)).toEqual(before);

  one.clock.set("9990-01-01T00:00:00Z");
  await one.engine.organize({ jobs: ["decay_sweep", "tombstone_sweep"], budgetMs: 60_000 });

  expect(await nodesOf(one)).toHaveLength(before.length);
  await expectOrder(one);
}, 120_000);
