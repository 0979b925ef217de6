import { describe, expect, test } from "bun:test";
import { openChecksummed } from "../../../src/domain/checksummed.ts";
import { NODE_TYPES } from "../../../src/domain/enums.ts";
import type { OrganizerSettings } from "../../../src/engine/settings.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import { DEFAULT_SETTINGS, type OpenedEngine, testClock, useEngines } from "../engines.ts";
import { agingPacks, recordsOf, stateOf } from "./aging.ts";
import { LIFE } from "./life.ts";

const { open, settle } = useEngines();

const UPKEEP = { cooldownSeconds: 0, budgetMs: 60_000, batchSize: 1000 };
const after = (days: number): string =>
  new Date(Date.UTC(2026, 2, 18, 12) + days * 86_400_000).toISOString();

const organizer = (rules: Partial<OrganizerSettings>) => ({
  settings: { organizer: { ...DEFAULT_SETTINGS.organizer, ...rules }, upkeep: UPKEEP },
});

async function active({ engine }: OpenedEngine, userId = "ada"): Promise<number> {
  return (await engine.queryNodes({ userId, limit: 1000 })).length;
}

test("sixty memories of a life are found after 400 days without use as on the first day", async () => {
  const clock = testClock();
  const one = await open({ clock });
  for (const { content, nodeType } of LIFE) {
    await one.engine.store({ content, nodeType, userId: "ada" });
  }
  const ask = async () =>
    await Promise.all(
      LIFE.map(async ({ question }) => {
        const { results } = await one.engine.retrieve({
          ...{ query: question, userId: "ada", keepReceipt: false },
        });
        return results.map(({ node }) => node.content);
      }),
    );
  const first = await ask();
  clock.set(after(400));
  // Two passes, a day apart, of everything that ages.
  await one.engine.organize({ budgetMs: 60_000 });
  await settle();
  clock.set(after(402));
  const { jobsSkipped } = await one.engine.organize({ budgetMs: 60_000 });
  await settle();

  expect(jobsSkipped).not.toContain("decay_sweep");
  expect(await active(one)).toBe(LIFE.length);
  expect(await ask()).toEqual(first);
  const found = LIFE.filter(({ content }, place) => first[place]?.includes(content));
  expect(found.length).toBeGreaterThan(55);
});

describe("fading", () => {
  const aged = agingPacks(open);

  test("leaves memories of every type, speaker and kind for ever", async () => {
    const kinds: readonly Partial<StoreInput>[] = [
      {},
      { role: "assistant" },
      { ttlDays: null },
      { confidence: 0.05 },
      { metadata: { consolidation_summary: "true" } },
    ];
    const one = await aged(
      NODE_TYPES.flatMap((nodeType) => kinds.map((kind) => ({ nodeType, ...kind }))),
    );
    one.clock.set(after(400));
    await one.engine.organize({ jobs: ["decay_sweep", "archive", "tombstone_sweep"] });
    for (const id of one.ids) expect(await stateOf(one, id)).toBe("tentative");
  });

  test("reaches a type that a setting names, unless it was used or reinforced", async () => {
    const fadeAfterDays = { note: 60, task: 200 };
    const memories = ["the dentist", "the garden gate", "the boiler"].map((content) => ({
      content,
    }));
    const one = await agingPacks(open, { fadeAfterDays })([
      ...memories,
      { nodeType: "task" },
      { nodeType: "preference" },
      { content: "pinned" },
    ]);
    await one.engine.pin(one.ids[5] ?? "", true);
    one.clock.set(after(50));
    await one.engine.reinforce(one.ids[1] ?? "");
    const { results } = await one.engine.retrieve({ query: "dentist", userId: "ada", limit: 1 });
    expect(results[0]?.node.id as string | undefined).toBe(one.ids[0]);
    await settle();
    one.clock.set(after(100));

    const done = await one.engine.organize({ jobs: ["decay_sweep"] });

    expect(done.perJob["decay_sweep"]).toMatchObject({ nodesModified: 1, errors: 0 });
    const states = await Promise.all(one.ids.map((id) => stateOf(one, id)));
    expect(states.map((state) => state === "archived")).toEqual([
      ...[false, false, true, false, false, false],
    ]);
    const [record] = await recordsOf(one, one.ids[2], "LIFECYCLE_CHANGED");
    expect(openChecksummed(record?.payload ?? {})).toMatchObject({
      organizer: { job: "decay_sweep", reason: "unused" },
    });
  });

  test("reaches summaries that the organizer wrote itself", async () => {
    const days = Array.from({ length: 6 }, (_, at) => ({ content: `Walked ${at} miles` }));
    const one = await agingPacks(open, { extractiveSummaries: true })(days);
    await one.engine.organize({ jobs: ["summarize"] });
    const summaries = () => one.engine.queryNodes({ userId: "ada", nodeType: "summary" });
    expect(await summaries()).not.toEqual([]);
    one.clock.set(after(400));
    await one.engine.organize({ jobs: ["decay_sweep"] });
    expect(await summaries()).toEqual([]);
    expect(await active(one)).toBe(6);
  });
});

describe("a clock that was set wrong", () => {
  const expiring = { content: "The parcel is at the gate", userId: "ada", ttlDays: 30 };
  const JOBS = ["promote", "decay_sweep", "archive", "tombstone_sweep"];

  async function pack() {
    const clock = testClock();
    const one = await open({
      ...{ clock, isClockKnown: false },
      ...organizer({ fadeAfterDays: { note: 60 } }),
    });
    const expires = await one.engine.storeWithReceipt(expiring);
    const fades = await one.engine.storeWithReceipt({ content: "A note", userId: "ada" });
    const states = async () => [
      await stateOf(one, expires.nodeId),
      await stateOf(one, fades.nodeId),
    ];
    return { ...one, clock, states };
  }

  test.each([100, 36_500, -20_000])("by %d days for one start changes nothing", async (days) => {
    const one = await pack();
    one.clock.set(after(days));
    await one.engine.retrieve({ query: "parcel", userId: "ada" });
    await one.engine.store({ content: "Said meanwhile", userId: "ada" });
    await settle();
    const { skippedBecause } = await one.engine.organize({ jobs: JOBS, budgetMs: 60_000 });
    expect(skippedBecause).toEqual(Object.fromEntries(JOBS.map((job) => [job, "clock_in_doubt"])));
    one.clock.set(after(0.1));
    await one.engine.retrieve({ query: "parcel", userId: "ada" });
    await settle();
    one.clock.set(after(1.5));
    await one.engine.retrieve({ query: "parcel", userId: "ada" });
    await settle();

    expect(await one.states()).toEqual(["tentative", "tentative"]);
    expect((await one.engine.organize({ jobs: ["tombstone_sweep"] })).jobsSkipped).toEqual([]);
  });

  test("is believed when a second pass, a day later, has the like", async () => {
    const one = await pack();
    for (const days of [100, 100.5]) {
      one.clock.set(after(days));
      await one.engine.organize({ jobs: JOBS });
      expect(await one.states()).toEqual(["tentative", "tentative"]);
    }
    one.clock.set(after(101.1));
    const dry = await one.engine.organize({ jobs: JOBS, dryRun: true });
    expect(dry.wouldChange?.changes).not.toEqual([]);
    await one.engine.organize({ jobs: JOBS });
    expect(await one.states()).toEqual(["archived", "archived"]);
  });

  test("leaves receipts, which cannot be had back", async () => {
    const clock = testClock();
    const one = await open({ clock, isClockKnown: false, settings: { receiptRetentionDays: 30 } });
    const ask = () => one.engine.retrieve({ query: "parcel", userId: "ada" });
    const receipts = async () =>
      (await one.store.receipts({ userId: "ada", limit: 99 })).map(({ createdAt }) => createdAt);
    await ask();
    clock.set(after(100));
    await ask();
    await settle();
    clock.set(after(100.2));
    await ask();
    await settle();
    expect(await receipts()).toHaveLength(3);
    clock.set(after(101.3));
    await ask();
    await settle();
    expect(await receipts()).toHaveLength(3);
  });
});

describe("the order of what was said", () => {
  test.each([
    { name: "1970", to: "1970-01-01T00:00:00Z" },
    { name: "two hours back", to: after(-1 / 12) },
    { name: "a year back, after it was ahead", to: after(-365) },
  ])("is that of the log where the clock is at $name", async ({ to }) => {
    const clock = testClock();
    const one = await open({ clock, isClockKnown: false });
    const said = ["one", "two", "three", "four", "five", "six"];
    const say = (content: string | undefined) =>
      one.engine.store({ content: content ?? "", userId: "ada", sessionId: "s" });
    await say(said[0]);
    clock.set(to);
    await say(said[1]);
    await Promise.all([say(said[2]), one.engine.ingest({ content: "three b", userId: "bob" })]);
    await one.engine.ingestFastMany({
      items: [{ content: "four" }, { content: "five" }],
      userId: "ada",
    });
    await one.engine.processPending({ budgetMs: 60_000 });
    clock.set(after(0.01));
    await say(said[5]);

    const nodes = await one.engine.queryNodes({ userId: "ada", limit: 100 });
    expect(nodes.map(({ content }) => content)).toEqual(said.toReversed());
    const events = await one.store.events({ userId: "ada", limit: 100, offset: 0 });
    expect(events.map(({ content }) => content)).toEqual(said.toReversed());
    for (const { validFrom, createdAt } of nodes) expect(validFrom).toBe(createdAt);
    // Another owner's days are not moved.
    const [other] = await one.engine.queryNodes({ userId: "bob" });
    expect(other?.createdAt.slice(0, 10)).toBe(to.slice(0, 10));
  });

  test("holds for calls that overlap", async () => {
    const clock = testClock(after(100));
    const one = await open({ clock });
    await one.engine.store({ content: "ahead", userId: "ada" });
    clock.set(after(0));
    await Promise.all(
      Array.from({ length: 20 }, (_, at) => one.engine.store({ content: `${at}`, userId: "ada" })),
    );
    const nodes = await one.engine.queryNodes({ userId: "ada", limit: 100 });
    expect(new Set(nodes.map(({ createdAt }) => createdAt)).size).toBe(21);
    const order = nodes.slice(0, 20).map(({ content }) => Number(content));
    expect(order).toEqual(Array.from({ length: 20 }, (_, at) => 19 - at));
  });
});
