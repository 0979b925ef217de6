import { expect, test } from "bun:test";
import { asInstant } from "../../../src/lib/instant.ts";
import { freshId } from "../../contract/samples.ts";
import { seedInto } from "../../contract/sqlite-seed.ts";
import { type OpenedEngine, testClock, useEngines } from "../engines.ts";

const { open } = useEngines();

/** Anna with a fact, two preferences of which one came later, a contested task, and a note. */
async function anna() {
  const clock = testClock();
  const one = await open({ clock });
  const store = async (content: string, nodeType: "entity" | "fact" | "preference" | "task") =>
    (await one.engine.storeWithReceipt({ content, userId: "ada", nodeType })).node;
  const entity = await store("Anna", "entity");
  const lives = await store("lives in Oslo", "fact");
  const tea = await store("prefers tea", "preference");
  const call = await store("call her", "task");
  const other = await store("do not call her", "task");
  clock.set("2026-04-01T00:00:00Z");
  const coffee = await store("prefers coffee", "preference");
  const link = (from: typeof entity, to: typeof entity) => ({
    id: freshId(),
    sourceId: from.id,
    targetId: to.id,
    edgeType: "has_fact" as const,
    userId: "ada",
    confidence: 1,
    validFrom: to.createdAt,
    validTo: undefined,
    provenanceEventId: undefined,
    metadata: undefined,
    createdAt: asInstant([to.createdAt, from.createdAt].sort().at(-1) ?? ""),
  });
  seedInto(one.pack).edges([
    link(lives, entity),
    ...[tea, call, coffee].map((node) => link(entity, node)),
  ]);
  await one.engine.contradict(call.id, other.id);
  return { ...one, entity, lives, tea, coffee };
}

const shown = async ({ engine }: OpenedEngine, id: string, atTime?: string) => {
  const found = await engine.snapshot(id, { userId: "ada", atTime });
  const texts = (nodes: readonly { readonly content: string }[]) =>
    nodes.map(({ content }) => content).sort();
  return {
    facts: texts(found.facts),
    preferences: texts(found.preferences),
    tasks: texts(found.tasks),
    out: found.relationships.map(({ sourceId }) => sourceId === id),
    text: found.summaryText,
  };
};

test("a snapshot has what stands one edge away from an entity, by type, contested claims left out", async () => {
  const one = await anna();

  expect(await shown(one, one.entity.id)).toEqual({
    facts: ["lives in Oslo"],
    preferences: ["prefers coffee", "prefers tea"],
    tasks: [],
    out: [true, true, true, false],
    text: expect.stringMatching(
      /^Anna \| Facts: lives in Oslo \| Preferences: prefers (tea; prefers coffee|coffee; prefers tea)$/,
    ),
  });
});

test("a snapshot of a moment leaves out what came later", async () => {
  const one = await anna();

  expect(await shown(one, one.entity.id, "2026-03-20T00:00:00Z")).toMatchObject({
    preferences: ["prefers tea"],
    out: [true, true, false],
  });
});

test("only an active entity of the owner has one", async () => {
  const one = await anna();
  const refused = (id: string, userId: string) =>
    one.engine.snapshot(id, { userId }).catch((error) => [error.code, error.data.field]);

  for (const [id, userId] of [
    [one.tea.id, "ada"],
    [one.entity.id, "bob"],
    ["x", "ada"],
  ] as const) {
    expect(await refused(id, userId)).toEqual(["invalid_argument", "entity_id"] as never);
  }
  await one.engine.archive(one.entity.id);
  expect(await refused(one.entity.id, "ada")).toEqual(["invalid_argument", "entity_id"] as never);
});

test("snapshot_generation counts the entities of which one can be made, and stores nothing", async () => {
  const one = await anna();
  const before = await one.engine.stats("ada");

  const { perJob } = await one.engine.organize({ jobs: ["snapshot_generation"] });

  expect(perJob["snapshot_generation"]).toMatchObject({
    nodesProcessed: 1,
    nodesModified: 1,
    errors: 0,
    details: { note: expect.any(String) },
  });
  expect(await one.engine.stats("ada")).toEqual(before);
});
