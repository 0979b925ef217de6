import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { asUuid } from "../../../src/lib/uuid.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { until } from "../../until.ts";
import { type EngineOptions, type OpenedEngine, testClock, useEngines } from "../engines.ts";

const { open, newPack, settle } = useEngines();
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
