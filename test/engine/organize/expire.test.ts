import { describe, expect, test } from "bun:test";
import { dirname } from "node:path";
import { mainPath } from "../../../src/adapters/sqlite/connection/layout.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import type { UpkeepSettings } from "../../../src/engine/settings.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import { asUuid } from "../../../src/lib/uuid.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { directoryPack, encrypted, RAW_KEY } from "../../contract/sqlite-pack.ts";
import { until } from "../../until.ts";
import { type EngineOptions, type OpenedEngine, testClock, useEngines } from "../engines.ts";
import { remember } from "../lifecycle/memories.ts";

const { open, newPack, settle } = useEngines();

const UPKEEP: UpkeepSettings = { cooldownSeconds: 3600, budgetMs: 60_000, batchSize: 50 };
const LATER = "2026-03-20T00:00:00Z";

async function store({ engine }: OpenedEngine, given: Partial<StoreInput> = {}) {
  const input = { content: "The parcel is at the gate", userId: "ada", ttlDays: 1, ...given };
  return remember(engine, input.content, input);
}

/** A pack with expired memories, made by an engine that leaves them alone. */
async function expired(count: number, given: Partial<StoreInput> = {}) {
  const clock = testClock();
  const first = await open({ clock, settings: { upkeep: undefined } });
  for (let done = 0; done < count; done += 1) await store(first, given);
  clock.set(LATER);
  return { ...first, clock };
}

function active({ store: log }: { store: Store }): Promise<number> {
  return log.countNodes(ALL_OWNERS);
}

describe("opening", () => {
  test("archives what has expired of every owner, batch after batch", async () => {
    const before = await expired(7);
    await store(before, { userId: "bob", ttlDays: 0 });
    const kept = await store(before, { ttlDays: 30 });
    before.clock.set("2026-03-21T00:00:00Z");

    const upkeep = { ...UPKEEP, batchSize: 3 };
    const one = await open({ pack: before.pack, clock: before.clock, settings: { upkeep } });
    await until(async () => (await active(one)) === 1);

    expect((await one.engine.getNode(kept.id))?.id).toBe(kept.id);
    expect(one.warnings).toEqual([]);
  });

  test("archives nothing when that is off", async () => {
    const before = await expired(2);

    const settings = { upkeep: undefined };
    const one = await open({ pack: before.pack, clock: before.clock, settings });
    await one.engine.retrieve({ query: "parcel", userId: "ada" });
    await settle();

    expect(await active(one)).toBe(2);
  });

  test("reports once that it could not look, and works", async () => {
    const before = await expired(1);

    const one = await open({
      pack: before.pack,
      clock: before.clock,
      settings: { upkeep: UPKEEP },
      alter: () => ({ expired: () => Promise.reject(new Error("secret")) }),
    });
    await until(async () => one.warnings.length > 0);

    expect(one.warnings).toEqual(["expired memories were not archived (Error)"]);
    expect((await one.engine.retrieve({ query: "parcel", userId: "ada" })).results).toEqual([]);
  });
});

describe("a call", () => {
  const CALLS: readonly { name: string; call: (one: OpenedEngine) => Promise<unknown> }[] = [
    { name: "retrieve", call: ({ engine }) => engine.retrieve({ query: "x", userId: "ada" }) },
    { name: "store", call: ({ engine }) => engine.store({ content: "x", userId: "ada" }) },
    {
      name: "storeWithReceipt",
      call: ({ engine }) => engine.storeWithReceipt({ content: "x", userId: "ada" }),
    },
    { name: "ingest", call: ({ engine }) => engine.ingest({ content: "x", userId: "ada" }) },
  ];

  /** An engine that has looked once at opening, and memories that expire afterwards. */
  async function opened(options: EngineOptions = {}) {
    const clock = testClock();
    const one = await open({ clock, settings: { upkeep: UPKEEP }, ...options });
    await settle();
    const ada = await store(one);
    const bob = await store(one, { userId: "bob" });
    await settle();
    clock.set(LATER);
    const state = async (id: string) =>
      (await one.engine.getNode(id, { includeSuperseded: true }))?.lifecycleState;
    return { ...one, clock, ada, bob, state };
  }

  test.each(CALLS)("to $name is followed by a look at its owner's memories", async ({ call }) => {
    const one = await opened();

    await until(async () => {
      await call(one);
      return (await one.state(one.ada.id)) === "archived";
    });
    await settle();

    expect(await one.state(one.bob.id)).toBe("tentative");
    expect(one.warnings).toEqual([]);
  });

  test("is not followed by one within the cooldown of the last, which each owner has alone", async () => {
    const one = await opened();
    const ask = (userId: string) => one.engine.retrieve({ query: "x", userId });
    const askUntilGone = (userId: string, id: string) =>
      until(async () => {
        await ask(userId);
        return (await one.state(id)) === "archived";
      });
    await askUntilGone("ada", one.ada.id);
    await settle();
    const next = await store(one, { ttlDays: 0 });
    one.clock.set("2026-03-20T00:59:00Z");

    await ask("ada");
    await settle();
    expect(await one.state(next.id)).toBe("tentative");
    await askUntilGone("bob", one.bob.id);
    expect(await one.state(next.id)).toBe("tentative");

    one.clock.set("2026-03-20T01:00:01Z");
    await askUntilGone("ada", next.id);
  });

  test("that fails is followed by nothing", async () => {
    const one = await opened();

    await one.engine.store({ content: "x", userId: "ada", ttlDays: -1 }).catch(() => {});
    await settle();

    expect(await one.state(one.ada.id)).toBe("tentative");
  });

  /** Five memories that expire after an engine has looked at opening, and how many are left once it was asked. */
  async function leftBy(upkeep: Partial<UpkeepSettings>, left: number): Promise<number> {
    const before = await expired(5);
    before.clock.set("2026-03-18T13:00:00Z");
    const settings = { upkeep: { ...UPKEEP, ...upkeep } };
    const one = await open({ pack: before.pack, clock: before.clock, settings });
    await settle();
    before.clock.set(LATER);
    await one.engine.retrieve({ query: "x", userId: "ada" });
    await until(async () => (await active(one)) === left);
    await settle();
    return active(one);
  }

  test("is followed by batch after batch, for what has expired takes the places of what has not", async () => {
    expect(await leftBy({ batchSize: 2 }, 0)).toBe(0);
  });

  test("is followed by nothing where the budget is nothing", async () => {
    expect(await leftBy({ budgetMs: 0 }, 5)).toBe(5);
  });

  test("does not wait for what follows it, and is not failed by it", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const one = await opened({
      alter: () => ({
        change: async () => {
          await held;
          throw new Error("secret parcel");
        },
      }),
    });

    const { results } = await one.engine.retrieve({ query: "parcel", userId: "ada" });
    expect(results).toEqual([]);
    await one.engine.store({ content: "another", userId: "ada" });
    release();
    await until(async () => one.warnings.length > 0);

    expect(one.warnings).toEqual([expect.stringMatching(/^expired memory .* was not archived/)]);
    expect(one.warnings.join()).not.toContain("secret");
  });
});

describe("closing", () => {
  test("waits for the memory that is being archived, and begins with no further one", async () => {
    const before = await expired(20);
    let changes = 0;
    const begun = Promise.withResolvers<void>();
    const one = await open({
      pack: before.pack,
      clock: before.clock,
      settings: { upkeep: UPKEEP },
      alter: (log) => ({
        change: async (reads, decide) => {
          begun.resolve();
          await Bun.sleep(30);
          const result = await log.change(reads, decide);
          changes += 1;
          return result;
        },
      }),
    });
    await begun.promise;

    await one.engine.close();

    expect(changes).toBe(1);
    expect(one.warnings).toEqual([]);
    expect(await active(before)).toBe(19);
  });
});

describe("locking", () => {
  test("ends the work with one report at most, and unlocking begins it again", async () => {
    const { layout } = newPack();
    const pack = encrypted(directoryPack(dirname(mainPath(layout))));
    const clock = testClock();
    const first = await open({ pack, clock, settings: { upkeep: undefined } });
    for (let done = 0; done < 10; done += 1) await store(first);
    await first.engine.close();
    clock.set(LATER);
    const begun = Promise.withResolvers<void>();
    const one = await open({
      pack,
      clock,
      settings: { upkeep: UPKEEP },
      alter: (log) => ({
        change: (reads, decide) => {
          begun.resolve();
          return log.change(reads, decide);
        },
      }),
    });
    await begun.promise;

    await one.engine.lock();
    await settle();

    expect(one.warnings.length).toBeLessThanOrEqual(2);
    await one.engine.unlock(RAW_KEY);
    await until(async () => (await active(one)) === 0);
  });
});

const DAY = 86_400_000;

/** An engine that keeps receipts for some days, and the looks for old ones. */
async function pruning(
  days: number | undefined,
  {
    prune = (store, ...given) => store.pruneReceipts(...given),
    ...options
  }: EngineOptions & {
    readonly prune?: (
      store: Store,
      ...given: Parameters<Store["pruneReceipts"]>
    ) => Promise<number>;
  } = {},
) {
  const clock = testClock();
  const looks: string[] = [];
  const opened = await open({
    clock,
    ...options,
    settings: { receiptRetentionDays: days },
    alter: (store) => ({
      pruneReceipts: (before, limit) => {
        looks.push(before);
        return prune(store, before, limit);
      },
    }),
  });
  return { ...opened, clock, looks };
}

async function ask({ engine }: OpenedEngine): Promise<string> {
  const { metadata } = await engine.retrieve({ query: "tea", userId: "ada" });
  await settle();
  return metadata.requestId;
}

describe("old receipts", () => {
  test("are removed after a question, and only those", async () => {
    const one = await pruning(30);
    one.clock.set("2026-01-01T00:00:00Z");
    const old = await ask(one);
    one.clock.set("2026-01-20T00:00:00Z");
    const young = await ask(one);
    one.clock.set("2026-02-05T00:00:00Z");
    const newest = await ask(one);

    await until(async () => (await one.store.receipt(asUuid(old), "ada")) === undefined);
    expect(await one.store.receipt(asUuid(young), "ada")).toBeDefined();
    expect(await one.store.receipt(asUuid(newest), "ada")).toBeDefined();
  });

  test("are looked for once an hour, whichever engine is asked", async () => {
    const one = await pruning(30);
    await one.engine.ingestFast({ content: "tea", userId: "ada" });
    one.clock.set("2026-03-18T12:00:00Z");
    await ask(one);
    await ask(one);
    expect(one.looks).toHaveLength(1);
    expect(Date.parse("2026-03-18T12:00:00Z") - Date.parse(one.looks[0] ?? "")).toBe(30 * DAY);

    const other = await pruning(30, { pack: one.pack, clock: one.clock });
    one.clock.set("2026-03-18T12:59:00Z");
    await ask(one);
    await ask(other);
    expect([one.looks.length, other.looks.length]).toEqual([1, 0]);

    one.clock.set("2026-03-18T13:01:00Z");
    await ask(other);
    await ask(one);
    expect([one.looks.length, other.looks.length]).toEqual([1, 1]);
  });

  test("are removed step after step until none is left", async () => {
    let steps = 0;
    const one = await pruning(1, {
      prune: async (_store, _before, limit) => {
        steps += 1;
        return steps < 3 ? limit : 0;
      },
    });

    await ask(one);
    await until(async () => steps === 3);
    await settle();

    expect(steps).toBe(3);
  });

  test("are all removed where receipts are kept for 0 days", async () => {
    const pack = newPack();
    const before = await pruning(30, { pack });
    const kept = await ask(before);
    expect(await before.store.receipt(asUuid(kept), "ada")).toBeDefined();

    const one = await pruning(0, { pack, clock: testClock("2026-03-19T00:00:00Z") });
    await ask(one);

    await until(async () => (await one.store.receipt(asUuid(kept), "ada")) === undefined);
  });

  test("stay where receipts are kept for ever", async () => {
    const one = await pruning(undefined);
    await ask(one);
    expect(one.looks).toEqual([]);
  });

  test("that cannot be removed fail no answer, and are tried again an hour later", async () => {
    const one = await pruning(1, {
      prune: () => Promise.reject(new SvcError("storage_busy", "x")),
    });
    for (let asked = 0; asked < 3; asked += 1) await ask(one);

    expect(one.looks).toHaveLength(1);
    expect(one.warnings).toEqual(["old receipts were not removed (storage_busy)"]);
    one.clock.set("2026-03-18T13:00:01Z");
    await ask(one);
    expect(one.looks).toHaveLength(2);
  });
});
