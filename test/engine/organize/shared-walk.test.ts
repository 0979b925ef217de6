import { describe, expect, test } from "bun:test";
import type { OrganizeInput } from "../../../src/engine/organize/api.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { DEFAULT_SETTINGS, useEngines } from "../engines.ts";
import { agingPacks, stateOf } from "./aging.ts";

const { open } = useEngines();
const aged = agingPacks(open, { fading: "original" });

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
