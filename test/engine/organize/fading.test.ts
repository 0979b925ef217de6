import { describe, expect, test } from "bun:test";
import { openChecksummed } from "../../../src/domain/checksummed.ts";
import type { JobResult, OrganizeInput } from "../../../src/engine/organize/api.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { DEFAULT_SETTINGS, useEngines } from "../engines.ts";
import { agingPacks, recordsOf, stateOf } from "./aging.ts";

const { open } = useEngines();
const aged = agingPacks(open, { fading: "original" });

/** A moment so many days after the memories were stored. */
const after = (days: number): string =>
  new Date(Date.UTC(2026, 2, 18, 12) + days * 86_400_000).toISOString();

const KEPT = { ttlDays: null };
const HYPOTHESIS = { epistemicType: "hypothetical" } as const;

/** When a memory that was never reinforced is archived, in days. */
const AGES: readonly {
  name: string;
  given: Partial<StoreInput>;
  sweep: number;
  archive: number;
}[] = [
  { name: "a user's note", given: KEPT, sweep: 80.5, archive: 115.1 },
  { name: "an assistant's note", given: { ...KEPT, role: "assistant" }, sweep: 23, archive: 32.9 },
  { name: "a hypothesis", given: { ...KEPT, ...HYPOTHESIS }, sweep: 8.05, archive: 11.5 },
];

describe.each(AGES)("$name", ({ given, sweep, archive }) => {
  const margin = (days: number) => days * 0.01;
  test.each([
    { job: "decay_sweep", days: sweep },
    { job: "archive", days: archive },
  ])("is archived by $job after $days days and not before", async ({ job, days }) => {
    const one = await aged([given], { later: after(days - margin(days)) });
    const before = await one.engine.organize({ jobs: [job] });
    const [id] = one.ids;
    expect(before.perJob[job]).toMatchObject({ nodesProcessed: 1, nodesModified: 0 });
    expect(await stateOf(one, id)).toBe("tentative");

    one.clock.set(after(days + margin(days)));
    const done = await one.engine.organize({ jobs: [job] });

    expect(done.perJob[job]).toMatchObject({ nodesProcessed: 1, nodesModified: 1, errors: 0 });
    expect(await stateOf(one, id)).toBe("archived");
  });
});

describe("a sweep", () => {
  test("records why, with the values that the memory had", async () => {
    const one = await aged([KEPT], { later: after(90) });

    await one.engine.organize({ jobs: ["decay_sweep"] });

    const [change] = await recordsOf(one, one.ids[0], "LIFECYCLE_CHANGED");
    expect(change).toMatchObject({ actorId: "system" });
    expect(openChecksummed(change?.payload ?? {})).toMatchObject({
      action: "archive",
      organizer: {
        job: "decay_sweep",
        reason: "salience_and_confidence",
        salience: expect.closeTo(0.5 * Math.exp(-0.02 * 90), 6),
        confidence: expect.closeTo(0.8 * Math.exp(-0.01 * 90), 6),
      },
    });
  });

  test("leaves facts and entities that are kept for ever, and what was reinforced", async () => {
    const one = await aged(
      [{ ...KEPT, nodeType: "fact" }, { ...KEPT, nodeType: "entity" }, KEPT, KEPT],
      { later: after(70) },
    );
    await one.engine.reinforce(one.ids[2] ?? "");
    one.clock.set(after(100));

    const { perJob } = await one.engine.organize({ jobs: ["decay_sweep"] });

    expect(perJob["decay_sweep"]).toMatchObject({ nodesProcessed: 2, nodesModified: 1 });
    expect(await Promise.all(one.ids.map((id) => stateOf(one, id)))).toEqual([
      "tentative",
      "tentative",
      "tentative",
      "archived",
    ]);
  });

  test("makes a contested claim without confidence deprecated", async () => {
    const strong = { ...KEPT, confidence: 0.16, epistemicType: "asserted" } as const;
    const one = await aged([strong, strong], { later: after(1) });
    await one.engine.contradict(one.ids[0] ?? "", one.ids[1] ?? "");
    one.clock.set(after(10));

    await one.engine.organize({ jobs: ["decay_sweep"] });

    expect(await stateOf(one, one.ids[0])).toBe("deprecated");
    expect(await stateOf(one, one.ids[1])).toBe("deprecated");
  });

  test("finds what has faded among thousands of younger ones, whatever their order", async () => {
    const one = await aged([KEPT, KEPT, KEPT], { later: after(90) });
    const items = Array.from({ length: 1200 }, (_, at) => ({ content: `Item ${at}` }));
    await one.engine.ingestFastMany({ items, userId: "ada" });
    while ((await one.engine.processPending({ budgetMs: 60_000 })).pending > 0);

    const { perJob } = await one.engine.organize({ jobs: ["decay_sweep"], budgetMs: 60_000 });

    expect(perJob["decay_sweep"]).toMatchObject({ nodesProcessed: 1203, nodesModified: 3 });
  }, 120_000);

  test("passes over a memory that cannot be changed, and reports it", async () => {
    let bad = "";
    const one = await aged([KEPT, KEPT, KEPT], {
      later: after(90),
      alter: (real) => ({
        change: (reads, decide) =>
          reads.nodeIds.some((id) => id === bad)
            ? Promise.reject(new Error("secret"))
            : real.change(reads, decide),
      }),
    });
    bad = one.ids[1] ?? "";

    const { perJob } = await one.engine.organize({ jobs: ["decay_sweep"] });

    expect(perJob["decay_sweep"]).toMatchObject({ nodesProcessed: 3, nodesModified: 2, errors: 1 });
    expect(one.warnings).toEqual([`organize: memory ${bad} was not changed (Error)`]);
  });
});

describe("tombstone_sweep", () => {
  const run = async (one: Awaited<ReturnType<typeof aged>>): Promise<JobResult | undefined> =>
    (await one.engine.organize({ jobs: ["tombstone_sweep"], budgetMs: 60_000 })).perJob[
      "tombstone_sweep"
    ];

  test("archives what its retention has ended for, with the record of an expiry", async () => {
    const one = await aged([{ ttlDays: 1 }, { ttlDays: 30 }, KEPT], { later: after(2) });

    expect(await run(one)).toMatchObject({
      nodesProcessed: 2,
      nodesModified: 1,
      errors: 0,
      details: { note: expect.any(String) },
    });
    expect(await run(one)).toMatchObject({ nodesProcessed: 1, nodesModified: 0 });
    const [record, ...more] = await recordsOf(one, one.ids[0], "TOMBSTONE_SWEEP");
    expect(more).toEqual([]);
    expect(record).toMatchObject({
      actorId: "ada",
      payload: { version: 1, policy_ref: "ttl_expiration_v1", ttl_days: 1 },
    });
  });

  test("of a dry run lists them once", async () => {
    const one = await aged([{ ttlDays: 1 }, { ttlDays: 1 }], { later: after(2) });

    const { wouldChange } = await one.engine.organize({ jobs: ["tombstone_sweep"], dryRun: true });

    expect(wouldChange?.changes.map(({ operation, to }) => [operation, to])).toEqual([
      ["TOMBSTONE_SWEEP", "archived"],
      ["TOMBSTONE_SWEEP", "archived"],
    ]);
  });
});

test("index_compaction finds nothing in a pack in which every entry has its memory", async () => {
  const one = await aged([{}, {}]);
  await one.engine.archive(one.ids[0] ?? "");

  const { perJob } = await one.engine.organize({ jobs: ["index_compaction"] });

  expect(perJob["index_compaction"]).toMatchObject({
    nodesProcessed: 0,
    nodesModified: 0,
    errors: 0,
    details: {
      stale_found: 0,
      retired_staging_found: 0,
      stage_cleanup_blocked: false,
      stage_cleanup_reason: null,
    },
  });
});

const BOTH = ["decay_sweep", "archive"];
const LATER = "2026-07-20T12:00:00Z";
/** One memory that only confidence archives, one that `archive` would archive, too, and two that stay. */
const THREE: readonly Partial<StoreInput>[] = [
  { ttlDays: null, nodeType: "instruction", confidence: 0.1, epistemicType: "asserted" },
  { ttlDays: null, epistemicType: "hypothetical" },
  { ttlDays: null, nodeType: "fact" },
  { ttlDays: null, nodeType: "instruction" },
];

/** The same memories in a new pack, whose walks over what fades are counted, put in order by these calls. */
async function outcomeOf(
  inputs: readonly Partial<StoreInput>[],
  calls: readonly OrganizeInput[],
  organizer: Partial<typeof DEFAULT_SETTINGS.organizer> = {},
  spoilt?: Partial<Store>,
) {
  let walks = 0;
  const one = await aged(inputs, {
    later: LATER,
    settings: { organizer: { ...DEFAULT_SETTINGS.organizer, fading: "original", ...organizer } },
    alter: (real) => ({
      walkAging: (walk) => {
        if (walk.after === undefined && walk.at.kind === "faded") walks += 1;
        return real.walkAging(walk);
      },
      ...spoilt,
    }),
  });
  const counts: unknown[] = [];
  for (const call of calls) {
    const { perJob, wouldChange } = await one.engine.organize({ budgetMs: 60_000, ...call });
    for (const { job, nodesProcessed, nodesModified, errors, details } of Object.values(perJob)) {
      counts.push({ job, nodesProcessed, nodesModified, errors, details });
    }
    if (wouldChange !== undefined) counts.push(wouldChange.changes.map(({ job, to }) => [job, to]));
  }
  const states = await Promise.all(one.ids.map((id) => stateOf(one, id)));
  return { walks, counts, states };
}

const alone = (input: OrganizeInput = {}) => BOTH.map((job) => ({ ...input, jobs: [job] }));
const together = (input: OrganizeInput = {}) => [{ ...input, jobs: BOTH }];

describe("archive right after decay_sweep", () => {
  test("walks over the memories once", async () => {
    const apart = await outcomeOf(THREE, alone());
    const joined = await outcomeOf(THREE, together());

    expect(apart.walks).toBe(2);
    expect(joined.walks).toBe(1);
    expect(joined.states).toEqual(["archived", "archived", "tentative", "tentative"]);
    expect(joined.counts).toEqual(apart.counts);
  });

  test("tries again what decay_sweep could not change", async () => {
    const spoilt = { change: () => Promise.reject(new Error("secret")) };
    const { walks, counts } = await outcomeOf(THREE, together(), {}, spoilt);

    expect(walks).toBe(2);
    expect(counts).toMatchObject([{ errors: 2 }, { errors: 1 }]);
  });

  test.each([
    { name: "another job ran in between", jobs: ["decay_sweep", "deduplicate", "archive"], all: 2 },
    { name: "it ran before", jobs: ["archive", "decay_sweep"], all: 2 },
    { name: "it is named twice", jobs: ["decay_sweep", "archive", "archive"], all: 2 },
    { name: "an unknown job stood in between", jobs: ["decay_sweep", "nap", "archive"], all: 2 },
  ])("walks itself if $name", async ({ jobs, all }) => {
    const { walks, states } = await outcomeOf(THREE, [{ jobs }]);

    expect(walks).toBe(all);
    expect(states).toEqual(["archived", "archived", "tentative", "tentative"]);
  });
});
