/** Runs that end half-way come to what one whole run comes to, and a clock that jumps changes nothing that is not due. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { LIFECYCLE_STATES } from "../../../src/domain/enums.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { type OpenedEngine, useEngines } from "../engines.ts";
import { agingPacks } from "./aging.ts";
import { EXTRACTIVE } from "./summaries.ts";

setDefaultTimeout(120_000);

const { open } = useEngines();
const aged = agingPacks(open);

const LATER = "2026-07-20T12:00:00Z";
const SETTINGS = { organizer: EXTRACTIVE, upkeep: undefined };
const WHEN = { validFrom: "2026-01-01T00:00:00Z", eventTime: "2026-01-01T00:00:00Z" };

/** Something for every job, of two owners. */
const MEMORIES: readonly Partial<StoreInput>[] = ["ada", "bob"].flatMap((userId) =>
  [
    ...[1, 2, 3, 1, 2, 3].map((gate) => ({ content: `The parcel is at gate ${gate}`, ...WHEN })),
    ...["postgres", "PostgreSQL", "JS", "JavaScript"].map((content) => ({
      ...{ content, nodeType: "entity" as const },
    })),
    { content: "Perhaps it rains", ttlDays: null, epistemicType: "hypothetical" as const },
    { content: "A note of the day", ttlDays: 1 },
    ...[2, 3].flatMap((day) =>
      ["bread", "soap", "two lamps", "a map", "one kite"].map((what) => ({
        ...{ content: `Anna bought ${what} for day ${day}`, nodeType: "fact" as const },
        eventTime: `2026-02-0${day}T10:00:00Z`,
      })),
    ),
  ].map((memory) => ({ userId, ...memory })),
);

/** Ids differ from pack to pack. */
const nameless = (text: string) => text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID");

async function outcomeOf({ engine }: OpenedEngine) {
  const nodes = await engine.queryNodes({ lifecycleStates: LIFECYCLE_STATES, limit: 1000 });
  return nodes
    .map(({ userId, lifecycleState, supersededBy, content }) => {
      const successor = nodes.find(({ id }) => id === supersededBy)?.content ?? "";
      return nameless([userId, lifecycleState, content, successor].join(" | "));
    })
    .sort();
}

async function whole() {
  const one = await aged(MEMORIES, { later: LATER, settings: SETTINGS });
  await one.engine.organize({ budgetMs: 60_000 });
  return await outcomeOf(one);
}

/** Every change takes a while. */
const slowly =
  (ms: number) =>
  (real: Store): Partial<Store> => ({
    change: async (reads, decide) => {
      await Bun.sleep(ms);
      return real.change(reads, decide);
    },
  });

test("runs whose budget ends in the middle of a job come to what one whole run comes to", async () => {
  const one = await aged(MEMORIES, { later: LATER, settings: SETTINGS, alter: slowly(4) });
  let runs = 0;
  for (let isOver = false; !isOver; runs += 1) {
    const { jobsSkipped, perJob } = await one.engine.organize({ budgetMs: 15 });
    const changed = Object.values(perJob).filter(
      ({ job, nodesModified }) => job !== "snapshot_generation" && nodesModified > 0,
    );
    isOver = jobsSkipped.length === 0 && changed.length === 0;
  }

  expect(runs).toBeGreaterThan(2);
  expect(await outcomeOf(one)).toEqual(await whole());
});

test("a run that closing ends is gone on with by the next one", async () => {
  const one = await aged(MEMORIES, { later: LATER, settings: SETTINGS, alter: slowly(20) });
  const run = one.engine.organize({ budgetMs: 60_000 });
  await Bun.sleep(60);

  await one.engine.close();

  const ended = await run.then(
    ({ jobsRun }) => jobsRun.length,
    () => 0,
  );
  expect(ended).toBeLessThan(10);
  const two = await open({ pack: one.pack, clock: one.clock, settings: SETTINGS });
  await two.engine.organize({ budgetMs: 60_000 });
  expect(await outcomeOf(two)).toEqual(await whole());
});

test("a clock that jumps by hours to and fro in the middle of a run changes nothing of what comes of it", async () => {
  const moments = ["2026-07-20T20:00:00Z", "2026-07-20T05:00:00Z", LATER];
  let jump = () => {};
  const one = await aged(MEMORIES, {
    ...{ later: LATER, settings: SETTINGS },
    alter: (real) => ({
      change: (reads, decide) => {
        jump();
        return real.change(reads, decide);
      },
    }),
  });
  let jumps = 0;
  jump = () => {
    one.clock.set(moments[jumps % moments.length] ?? LATER);
    jumps += 1;
  };

  await one.engine.organize({ budgetMs: 60_000 });
  one.clock.set(LATER);
  await one.engine.organize({ budgetMs: 60_000 });

  expect(jumps).toBeGreaterThan(10);
  expect(await outcomeOf(one)).toEqual(await whole());
});

test.each([
  ["years behind", "2019-01-01T00:00:00Z"],
  ["months behind", "2026-05-01T00:00:00Z"],
])("after a run with a clock that was %s the next one does what is due", async (_, wrong) => {
  const one = await aged(MEMORIES, { later: wrong, settings: SETTINGS });
  await one.engine.organize({ budgetMs: 60_000 });
  one.clock.set(LATER);
  await one.engine.organize({ budgetMs: 60_000 });

  // What was merged or summed up before it faded is so; nothing else differs.
  const told = (outcome: readonly string[]) =>
    outcome.filter((line) => !/summary|consolidation|parcel/.test(line));
  expect(told(await outcomeOf(one))).toEqual(told(await whole()));
});
