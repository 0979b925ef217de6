import { describe, expect, test } from "bun:test";
import type { MemoryNode } from "../../../src/domain/node.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import { type OpenedEngine, testClock, useEngines, wordEmbedder } from "../engines.ts";
import { remember, reread } from "../lifecycle/memories.ts";

const { open } = useEngines();

async function opened(): Promise<OpenedEngine> {
  return open({ clock: testClock(), embedder: wordEmbedder() });
}

function entity(
  { engine }: OpenedEngine,
  content: string,
  given: Partial<StoreInput> = {},
): Promise<MemoryNode> {
  return remember(engine, content, { nodeType: "entity", ...given });
}

async function run({ engine }: OpenedEngine) {
  const { perJob, jobsSkipped } = await engine.organize({ jobs: ["alias_resolve"] });
  expect(jobsSkipped).toEqual([]);
  const { nodesProcessed, nodesModified, errors, details } = perJob["alias_resolve"] ?? {};
  return { nodesProcessed, nodesModified, errors, details };
}

const DONE = { nodesProcessed: 0, nodesModified: 0, errors: 0 };

describe("names that surely match", () => {
  test.each([
    ["JS", "JavaScript"],
    ["k8s", "Kubernetes"],
    ["PG", "postgresql"],
    ["lisbon", "Lisbon"],
  ])("%s and %s become one, under the longer name", async (short, long) => {
    const world = await opened();
    const one = await entity(world, short);
    const other = await entity(world, long);

    expect(await run(world)).toEqual({
      ...DONE,
      nodesProcessed: 1,
      nodesModified: 1,
      details: { aliases_found: 1, aliases_resolved: 1 },
    });
    const [kept, gone] = short.length < long.length ? [other, one] : [one, other];
    expect((await reread(world.engine, gone.id)).supersededBy).toBe(kept.id);
    expect((await reread(world.engine, kept.id)).content).toBe(kept.content);
    expect((await run(world)).nodesProcessed).toBe(0);
  });

  test.each([
    ["js", "ecmascript"],
    ["postgres", "pg"],
    ["ci", "cd"],
    ["Anna", "Hanna"],
  ])("%s and %s stay two", async (one, other) => {
    const world = await opened();
    await entity(world, one);
    await entity(world, other);

    expect((await run(world)).nodesModified).toBe(0);
  });

  test("stay two in different sessions, scopes and metadata, and for other owners", async () => {
    const world = await opened();
    await entity(world, "JavaScript");
    for (const given of [
      { sessionId: "s1" },
      { scope: "project" },
      { metadata: { entity_type: "language" } },
      { userId: "bob" },
    ] as const) {
      await entity(world, "JS", given);
    }

    expect((await run(world)).nodesProcessed).toBe(0);
  });
});

test("names that mean nearly the same stay two, and no edge joins them", async () => {
  const world = await opened();
  const one = await entity(world, "Anna Maria Sofia Keller");
  await entity(world, "Anna Maria Sofia Elisabeth Keller");

  expect(await run(world)).toMatchObject(DONE);
  expect(await world.engine.neighborhood(one.id)).toEqual([]);
});

test("what a personal word stands for is never compared", async () => {
  const world = await opened();
  await entity(world, "she", { metadata: { entity_type: "person" } });
  await entity(world, "She", { metadata: { entity_type: "person" } });

  expect((await run(world)).nodesProcessed).toBe(0);
});
