import { describe, expect, test } from "bun:test";
import type { UpkeepSettings } from "../../../src/engine/settings.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import { until } from "../../until.ts";
import {
  DEFAULT_SETTINGS,
  type EngineOptions,
  type OpenedEngine,
  testClock,
  useEngines,
} from "../engines.ts";
import { remember } from "../lifecycle/memories.ts";
import { stateOf } from "./aging.ts";

const { open, settle } = useEngines();

const UPKEEP: UpkeepSettings = { cooldownSeconds: 3600, budgetMs: 60_000, batchSize: 50 };
const SETTINGS = {
  upkeep: UPKEEP,
  organizer: { ...DEFAULT_SETTINGS.organizer, fading: "original" },
} as const;
const OLD = "2026-01-01T00:00:00Z";
const NOW = "2026-03-20T00:00:00Z";
const KEPT = { content: "The parcel is at the gate", userId: "ada", ttlDays: null };

/** An engine on a pack with memories of January, which it has not looked at yet. */
async function opened(inputs: readonly Partial<StoreInput>[], options: EngineOptions = {}) {
  const clock = testClock(OLD);
  const first = await open({ clock, settings: { upkeep: undefined } });
  const ids: string[] = [];
  for (const input of inputs) {
    ids.push((await remember(first.engine, KEPT.content, { ...KEPT, ...input })).id);
  }
  clock.set(NOW);
  const one = await open({ pack: first.pack, clock, settings: SETTINGS, ...options });
  return { ...one, clock, ids };
}

const ask = ({ engine }: OpenedEngine, userId = "ada") =>
  engine.retrieve({ query: "parcel", userId });
const isNow = (one: OpenedEngine, id: string | undefined, state: string) =>
  until(async () => (await stateOf(one, id)) === state);

describe("upkeep beside calls", () => {
  test.each([
    { name: "retrieve", call: (one: OpenedEngine) => ask(one) },
    {
      name: "ingest",
      call: ({ engine }: OpenedEngine) => engine.ingest({ content: "Hello", userId: "ada" }),
    },
  ])("after $name promotes, and archives what has faded, of its owner alone", async ({ call }) => {
    const faint = { role: "assistant" } as const;
    const one = await opened([{}, faint, { userId: "bob" }]);

    await call(one);

    await isNow(one, one.ids[0], "stable");
    await isNow(one, one.ids[1], "archived");
    expect(await stateOf(one, one.ids[2])).toBe("tentative");
    expect(one.warnings).toEqual([]);
  });

  test("does not follow a store, nor any call when it is off", async () => {
    const one = await opened([{}]);
    await one.engine.store({ content: "Hello", userId: "ada" });
    await settle();
    expect(await stateOf(one, one.ids[0])).toBe("tentative");

    const off = await opened([{}], { settings: { upkeep: undefined } });
    await ask(off);
    await settle();
    expect(await stateOf(off, off.ids[0])).toBe("tentative");
  });

  test("does not follow a question that leaves no receipt, which only looks", async () => {
    const one = await opened([{}]);
    const late = await one.engine.storeWithReceipt({ ...KEPT, ttlDays: 1 });
    await settle();
    one.clock.set("2026-03-22T00:00:00Z");

    await one.engine.retrieve({ query: "parcel", userId: "ada", keepReceipt: false });
    await settle();

    expect(await stateOf(one, one.ids[0])).toBe("tentative");
    expect(await stateOf(one, late.nodeId)).toBe("tentative");
    await ask(one);
    await isNow(one, one.ids[0], "stable");
    await isNow(one, late.nodeId, "archived");
  });

  test("changes no more memories of a kind in a pass than the batch, the oldest first", async () => {
    const settings = { ...SETTINGS, upkeep: { ...UPKEEP, batchSize: 2 } };
    const one = await opened([{}, {}, {}], { settings });

    await ask(one);

    await isNow(one, one.ids[1], "stable");
    await settle();
    expect(await stateOf(one, one.ids[0])).toBe("stable");
    expect(await stateOf(one, one.ids[2])).toBe("tentative");
  });

  test("writes nothing where there is nothing to do", async () => {
    const claimed: string[] = [];
    const one = await open({
      settings: SETTINGS,
      alter: (real) => ({
        takeWork: (work, isDueOnly) => {
          claimed.push(work.kind);
          return real.takeWork(work, isDueOnly);
        },
      }),
    });
    await one.engine.store({ ...KEPT });

    await ask(one);
    await settle();

    expect(claimed).not.toContain("opportunistic");
  });

  test("that fails is reported, and the next call is answered", async () => {
    const one = await opened([{}], {
      alter: (real) => ({
        change: (reads, decide) =>
          reads.claim?.kind === "opportunistic"
            ? Promise.reject(new Error("secret"))
            : real.change(reads, decide),
      }),
    });

    await ask(one);
    await until(async () => one.warnings.length > 0);

    expect(one.warnings[0]).toBe(`organize: memory ${one.ids[0]} was not changed (Error)`);
    expect((await ask(one)).results).toHaveLength(1);
  });

  test("ends when the engine closes", async () => {
    const one = await opened(Array.from({ length: 40 }, () => ({})));

    await ask(one);
    await one.engine.close();

    const again = await open({ pack: one.pack, settings: { upkeep: undefined } });
    expect(await again.engine.stats("ada")).toMatchObject({ nodeCount: 40 });
  });
});
