import { expect, test } from "bun:test";
import type { NodeType } from "../../../src/domain/enums.ts";
import { asUuid, type Uuid } from "../../../src/lib/uuid.ts";
import { type OpenedEngine, testClock, useEngines, wordEmbedder } from "../engines.ts";
import { remember, reread } from "../lifecycle/memories.ts";
import { lookAlikes } from "./look-alikes.ts";

const { open } = useEngines();

/** Writes texts that differ in nothing else, in circumstances in which equal ones are merged. */
async function write(
  { engine, store, deps }: OpenedEngine,
  texts: readonly string[],
  nodeType: NodeType,
): Promise<readonly Uuid[]> {
  const when = { validFrom: "2026-03-01T08:00:00Z", eventTime: "2026-03-01T08:00:00Z" };
  const model = await remember(engine, "the model of them all", { ...when, nodeType });
  const items = await Promise.all(
    texts.map(async (content) => ({
      node: { ...model, content, id: asUuid(Bun.randomUUIDv7()) },
      vector: await deps.embedder.embedDocument(content),
      at: model.createdAt,
    })),
  );
  for (let from = 0; from < items.length; from += 500) {
    await store.addNodes(items.slice(from, from + 500));
  }
  return items.map(({ node }) => node.id);
}

test.each([
  ["note", "first"],
  ["entity", "first"],
  ["note", "second"],
  ["entity", "second"],
] as const)(
  "of 300 pairs that look alike and differ none is merged, and equal ones are: %s, %s wordings",
  async (nodeType, words) => {
    const world = await open({ clock: testClock(), embedder: wordEmbedder() });
    const pairs = lookAlikes(300, words);
    const texts = pairs.flatMap(({ texts }) => texts);
    expect(pairs.every(({ texts: [one, other] }) => one !== other)).toBe(true);
    const ids = await write(world, texts, nodeType);
    const copies = await write(world, texts.slice(0, 50), nodeType);

    const jobs = nodeType === "note" ? ["deduplicate"] : ["deduplicate", "alias_resolve"];
    const { perJob } = await world.engine.organize({ jobs, budgetMs: 20_000 });

    const different = new Set(texts).size;
    const active = await world.engine.stats("ada");
    // The two models of the others are memories, too, and equal.
    expect(active.nodeCount).toBe(different + 1);
    expect(perJob["deduplicate"]?.nodesModified).toBe(texts.length + 50 + 2 - different - 1);
    const [first, copy] = await Promise.all(
      [ids[0], copies[0]].map((id) => reread(world.engine, id ?? "")),
    );
    expect([first?.lifecycleState, copy?.lifecycleState].sort()).toEqual([
      "superseded",
      "tentative",
    ]);
  },
);
