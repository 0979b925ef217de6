import { describe, expect, test } from "bun:test";
import { openChecksummed } from "../../../src/domain/checksummed.ts";
import { nodeRecord } from "../../../src/domain/node.ts";
import { penaliseOscillation } from "../../../src/engine/lifecycle/after-store.ts";
import { uuidV5 } from "../../../src/lib/hashing.ts";
import type { Uuid } from "../../../src/lib/uuid.ts";
import { DEFAULT_SETTINGS, type OpenedEngine, useEngines } from "../engines.ts";

const { open } = useEngines();

const settings = {
  storeSteps: { ...DEFAULT_SETTINGS.storeSteps, supersedes: true },
  upkeep: undefined,
};
const TO_LITE = "We switched from Postgres to SQLite";
const TO_POSTGRES = "We switched from SQLite to Postgres";

let said = 0;

/** Each is a memory of its own, whatever it says. */
async function store({ engine }: OpenedEngine, content: string, confidence?: number) {
  said += 1;
  const metadata = { said };
  const { node } = await engine.storeWithReceipt({ content, userId: "ada", confidence, metadata });
  return node;
}

async function penalties({ store: log }: OpenedEngine, ids: readonly Uuid[]) {
  const found = await Promise.all(
    ids.map((targetId) => log.auditRecordsOn({ targetId, after: undefined, limit: 100 })),
  );
  return found.flatMap(({ items }) => items).filter(({ opType }) => opType === "PENALTY");
}

const now = ({ engine }: OpenedEngine, id: Uuid) => engine.getNode(id, { includeSuperseded: true });

describe("memories that keep replacing each other", () => {
  test("cost the newest a tenth of its confidence, once, with a record of the whole chain", async () => {
    const opened = await open({ settings });
    const first = await store(opened, "Our database is Postgres");
    const lite = await store(opened, TO_LITE);
    const postgres = await store(opened, TO_POSTGRES);
    const ids = [first.id, lite.id, postgres.id];
    expect(await penalties(opened, ids)).toEqual([]);

    const last = await store(opened, TO_LITE);

    const chain = [last, postgres, lite, first];
    const [operation, ...more] = await penalties(opened, [...ids, last.id]);
    expect(more).toEqual([]);
    expect(operation).toMatchObject({
      id: uuidV5(last.id, "svc:oscillation-penalty:v1"),
      targetId: last.id,
      actorId: "ada",
      namespaceId: "personal",
    });
    const after = await now(opened, last.id);
    if (after === undefined) throw new Error("the memory is gone");
    expect(after.confidenceBase).toBeCloseTo(0.7, 6);
    expect(after).toEqual({
      ...last,
      confidence: after.confidenceBase,
      confidenceBase: after.confidenceBase,
      updatedAt: after.updatedAt,
    });
    expect(after.updatedAt > last.updatedAt).toBe(true);
    const record = openChecksummed(operation?.payload ?? {});
    expect(record).toMatchObject({
      version: 1,
      policy: "oscillation_subtractive_v1",
      operation_id: operation?.id ?? "",
      topic: "postgres sqlite switched",
      cycle_count: 1,
      delta: 0.1,
      after: nodeRecord.to(after),
    });
    expect(record["chain_before"]).toMatchObject(
      chain.map(({ id }, index) => ({
        id,
        lifecycleState: index === 0 ? "tentative" : "superseded",
      })),
    );
    expect(record["chain_edges"]).toMatchObject(
      chain.slice(1).map(({ id }, index) => ({
        edgeType: "supersedes",
        sourceId: chain[index]?.id ?? "",
        targetId: id,
      })),
    );
  });

  test("cost each newer one more, up to three tenths", async () => {
    const opened = await open({ settings });
    await store(opened, "Our database is Postgres");
    const bases: (number | undefined)[] = [];
    for (let turn = 0; turn < 10; turn += 1) {
      const { id } = await store(opened, turn % 2 === 0 ? TO_LITE : TO_POSTGRES);
      bases.push((await now(opened, id))?.confidenceBase);
    }

    expect(bases.map((base) => Math.round((0.8 - (base ?? 0)) * 10))).toEqual([
      0, 0, 1, 1, 2, 2, 3, 3, 3, 3,
    ]);
  });

  test("cost nothing below zero, and nothing at all where there is nothing left", async () => {
    const opened = await open({ settings });
    await store(opened, "Our database is Postgres");
    await store(opened, TO_LITE);
    await store(opened, TO_POSTGRES);
    const low = await store(opened, TO_LITE, 0.05);
    const none = await store(opened, TO_POSTGRES, 0);

    expect(await now(opened, low.id)).toMatchObject({ confidence: 0, confidenceBase: 0 });
    expect(await now(opened, none.id)).toEqual(none);
    expect((await penalties(opened, [low.id, none.id])).map(({ targetId }) => targetId)).toEqual([
      low.id,
    ]);
  });

  test("cost nothing once one of the chain was archived", async () => {
    const opened = await open({ settings });
    const first = await store(opened, "Our database is Postgres");
    await store(opened, TO_LITE);
    await store(opened, TO_POSTGRES);
    await opened.engine.archive(first.id);

    const last = await store(opened, TO_LITE);

    expect(await now(opened, last.id)).toEqual(last);
    expect(await penalties(opened, [last.id])).toEqual([]);
  });

  test("cost nothing when they are replaced by hand", async () => {
    const opened = await open({ settings });
    const nodes = [];
    for (const content of ["tea", "coffee", "tea"]) nodes.push(await store(opened, content));
    const [first, second, third] = nodes.map(({ id }) => id);
    await opened.engine.supersede(first ?? "", second ?? "");

    await opened.engine.supersede(second ?? "", third ?? "");

    expect(
      await penalties(
        opened,
        nodes.map(({ id }) => id),
      ),
    ).toEqual([]);
  });

  test("are counted once however often and by however many the chain is looked at", async () => {
    const opened = await open({ settings });
    const nodes = [];
    for (const content of ["tea", "coffee", "tea"]) nodes.push(await store(opened, content));
    const [first, second, third] = nodes.map(({ id }) => id);
    if (first === undefined || second === undefined || third === undefined) throw new Error();
    await opened.engine.supersede(first, second);
    await opened.engine.supersede(second, third);
    const other = await open({ settings, pack: opened.pack });

    const outcomes = await Promise.all(
      [opened, other, opened, other].map(({ deps }) =>
        penaliseOscillation(deps, { id: third, userId: "ada" }),
      ),
    );
    outcomes.push(await penaliseOscillation(opened.deps, { id: third, userId: "ada" }));

    expect(outcomes.filter((penalised) => penalised)).toHaveLength(1);
    expect(await penalties(opened, [third])).toHaveLength(1);
    expect((await now(opened, third))?.confidenceBase).toBeCloseTo(0.7, 6);
  });
});
