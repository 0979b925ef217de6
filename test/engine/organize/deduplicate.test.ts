import { describe, expect, test } from "bun:test";
import { openChecksummed } from "../../../src/domain/checksummed.ts";
import type { NodeType } from "../../../src/domain/enums.ts";
import type { MemoryNode } from "../../../src/domain/node.ts";
import type { OrganizeInput } from "../../../src/engine/organize/api.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import { asUuid, type Uuid } from "../../../src/lib/uuid.ts";
import { type OpenedEngine, testClock, useEngines, wordEmbedder } from "../engines.ts";
import { remember, reread } from "../lifecycle/memories.ts";
import { lookAlikes } from "./look-alikes.ts";

const { open } = useEngines();

const WHEN = { validFrom: "2026-03-01T08:00:00Z", eventTime: "2026-03-01T08:00:00Z" };

async function opened(): Promise<OpenedEngine> {
  return open({ clock: testClock(), embedder: wordEmbedder() });
}

async function run({ engine }: OpenedEngine, input: OrganizeInput = {}) {
  const { perJob, jobsSkipped } = await engine.organize({ jobs: ["deduplicate"], ...input });
  expect(jobsSkipped).toEqual([]);
  const { nodesProcessed, nodesModified, errors, details } = perJob["deduplicate"] ?? {};
  return { nodesProcessed, nodesModified, errors, details };
}

/** What a run that finds nothing reports. */
const NOTHING = {
  nodesProcessed: 0,
  nodesModified: 0,
  errors: 0,
  details: {
    duplicates_found: 0,
    nodes_merged: 0,
    pairs_not_applied: 0,
    merge_policy: "exact_content_provenance_validity_v1",
  },
};

async function merged({ engine }: OpenedEngine, nodes: readonly MemoryNode[]): Promise<number> {
  const now = await Promise.all(nodes.map(({ id }) => reread(engine, id)));
  return now.filter(({ lifecycleState }) => lifecycleState === "superseded").length;
}

describe("two memories with one text, of one moment", () => {
  test("become one, with the evidence and the edges of both", async () => {
    const world = await opened();
    const { engine } = world;
    const one = await remember(engine, "The parcel is at the gate", WHEN);
    const other = await remember(engine, "The parcel is at the gate", WHEN);
    const cup = await remember(engine, "A cup stands beside it");
    await engine.supersede(cup.id, other.id, { userId: "ada" });
    const tea = await remember(engine, "The parcel is still in the shop");
    await engine.contradict(tea.id, (await remember(engine, "No, it left")).id, { userId: "ada" });

    expect(await run(world)).toEqual({
      ...NOTHING,
      nodesProcessed: 1,
      nodesModified: 1,
      details: { ...NOTHING.details, duplicates_found: 1, nodes_merged: 1 },
    });

    const kept = await reread(engine, one.id);
    const gone = await reread(engine, other.id);
    expect(kept.evidenceRefs).toEqual([...one.evidenceRefs, ...other.evidenceRefs]);
    expect({ ...kept, evidenceRefs: [], updatedAt: "" }).toEqual({
      ...one,
      evidenceRefs: [],
      updatedAt: "",
    });
    expect([gone.lifecycleState, gone.supersededBy]).toEqual(["superseded", one.id]);
    expect(await engine.chain(other.id)).toMatchObject([{ id: one.id }]);
    const { operations } = await engine.getProvenance(other.id).then((found) => {
      if (found === undefined) throw new Error("there is no provenance");
      return found;
    });
    const entry = operations.find(({ opType }) => opType === "ORGANIZER_MERGED");
    const record = openChecksummed(entry?.payload ?? {});
    expect([record["reason"], record["score"]]).toEqual(["deduplication", 1]);
    expect(record["retired_before"]).toMatchObject({ id: other.id, lifecycleState: "tentative" });
    expect(record["kept_after"]).toMatchObject({ id: one.id, evidenceRefs: kept.evidenceRefs });
  });

  test("are merged once: a second run finds nothing, and reads nothing old", async () => {
    const world = await opened();
    const nodes = [
      await remember(world.engine, "The parcel is at the gate", WHEN),
      await remember(world.engine, "The parcel is at the gate", WHEN),
      await remember(world.engine, "The parcel is at the gate", WHEN),
    ];

    expect((await run(world)).nodesModified).toBe(2);
    expect(await run(world)).toEqual(NOTHING);
    expect(await merged(world, nodes)).toBe(2);
    nodes.push(await remember(world.engine, "The parcel is at the gate", WHEN));
    expect((await run(world)).nodesModified).toBe(1);
    expect(await merged(world, nodes)).toBe(3);
  });

  test("are listed by a dry run, which changes nothing", async () => {
    const world = await opened();
    const one = await remember(world.engine, "The parcel is at the gate", WHEN);
    const other = await remember(world.engine, "The parcel is at the gate", WHEN);

    const { wouldChange } = await world.engine.organize({ jobs: ["deduplicate"], dryRun: true });

    expect(wouldChange?.changes).toMatchObject([
      { job: "deduplicate", operation: "ORGANIZER_MERGED", targetId: other.id, to: "superseded" },
    ]);
    expect(await merged(world, [one, other])).toBe(0);
    expect((await run(world)).nodesModified).toBe(1);
  });
});

test("what a loop stores again and again becomes one, which counts as said last", async () => {
  const world = await opened();
  const { engine } = world;
  for (const nodeType of ["note", "fact"] as const) {
    const keep = async (content: string, confidence: number) => {
      await engine.store({ userId: "ada", content, nodeType, confidence });
      const [newest] = await engine.queryNodes({ userId: "ada", limit: 1 });
      if (newest?.content !== content) throw new Error("it is not the newest");
      return newest;
    };
    const nodes = [await keep("The editor is Vim", 0.9)];
    const between = await keep("The editor is Helix", 0.5);
    for (let at = 0; at < 5; at += 1) nodes.push(await keep("The editor is Vim", 0.8));

    expect((await run(world)).nodesModified).toBe(5);

    const last = await reread(engine, nodes.at(-1)?.id ?? between.id);
    expect(await merged(world, nodes)).toBe(5);
    expect(last).toMatchObject({ lifecycleState: "tentative", confidence: 0.8 });
    expect(last.evidenceRefs.toSorted()).toEqual(nodes.flatMap((node) => node.evidenceRefs).sort());
    expect(await reread(engine, between.id)).toMatchObject({ lifecycleState: "tentative" });
  }
});

describe("two memories with one text are kept apart", () => {
  const CASES: Readonly<Record<string, Partial<StoreInput>>> = {
    "of other sessions": { sessionId: "s2" },
    "with other metadata": { metadata: { trip: "lisbon" } },
    "of other owners": { userId: "bob" },
    "of other scopes": { scope: "project" },
    "of other types": { nodeType: "fact" },
    "of other times": { eventTime: "2026-03-02T08:00:00Z" },
    "valid from other moments": { validFrom: "2026-03-02T08:00:00Z" },
    "valid for other times": { validTo: "2027-03-01T08:00:00Z" },
    "kept for other times": { ttlDays: 5 },
    "of other sources": { sourceType: "external_document" },
    "known in other ways": { epistemicType: "observed" },
  };
  test.each(Object.entries(CASES))("%s", async (_, given) => {
    const world = await opened();
    const text = "The parcel is at the gate";
    const nodes = [
      await remember(world.engine, text, WHEN),
      await remember(world.engine, text, { ...WHEN, ...given }),
    ];

    expect((await run(world)).nodesModified).toBe(0);
    expect(await merged(world, nodes)).toBe(0);
  });

  test("as turns of a conversation, where what was said twice was said twice", async () => {
    const world = await opened();
    const nodes = [
      await remember(world.engine, "Tea", { sessionId: "s1" }),
      await remember(world.engine, "Tea", { sessionId: "s1" }),
    ];

    expect(await run(world)).toEqual({
      ...NOTHING,
      nodesProcessed: 1,
      details: { ...NOTHING.details, duplicates_found: 1, pairs_not_applied: 1 },
    });
    expect(await merged(world, nodes)).toBe(0);
  });

  test("when the texts are alike and not equal", async () => {
    const world = await opened();
    const nodes = [
      await remember(world.engine, "The parcel is at the gate.", WHEN),
      await remember(world.engine, "The parcel is at the gate", WHEN),
    ];

    expect((await run(world)).details?.["pairs_not_applied"]).toBe(1);
    expect(await merged(world, nodes)).toBe(0);
  });
});

test("entities are merged without regard to case, also in other scripts", async () => {
  const world = await opened();
  const entity = { nodeType: "entity" } as const;
  const nodes = [
    await remember(world.engine, "Straße", entity),
    await remember(world.engine, "STRASSE ", entity),
    await remember(world.engine, "Strasser", entity),
  ];

  expect((await run(world)).nodesModified).toBe(1);
  expect(await merged(world, nodes)).toBe(1);
});

test("each owner's memories are gone through, however small the budget, in some runs", async () => {
  const world = await opened();
  const nodes: MemoryNode[] = [];
  for (const userId of ["ada", "bob"]) {
    for (let at = 0; at < 20; at += 1) {
      const given = { ...WHEN, userId };
      nodes.push(await remember(world.engine, `Note ${at % 10}`, given));
    }
  }

  let runs = 0;
  for (; (await merged(world, nodes)) < 20 && runs < 500; runs += 1) {
    await world.engine.organize({ jobs: ["deduplicate"], budgetMs: 3 });
  }

  expect(await merged(world, nodes)).toBe(20);
  const kept = await Promise.all(nodes.map(({ id }) => reread(world.engine, id)));
  for (const { supersededBy, userId, content } of kept) {
    if (supersededBy === undefined) continue;
    expect(await reread(world.engine, supersededBy)).toMatchObject({ userId, content });
  }
});

function entity(
  { engine }: OpenedEngine,
  content: string,
  given: Partial<StoreInput> = {},
): Promise<MemoryNode> {
  return remember(engine, content, { nodeType: "entity", ...given });
}

async function aliasResolveRun({ engine }: OpenedEngine) {
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

    expect(await aliasResolveRun(world)).toEqual({
      ...DONE,
      nodesProcessed: 1,
      nodesModified: 1,
      details: { aliases_found: 1, aliases_resolved: 1 },
    });
    const [kept, gone] = short.length < long.length ? [other, one] : [one, other];
    expect((await reread(world.engine, gone.id)).supersededBy).toBe(kept.id);
    expect((await reread(world.engine, kept.id)).content).toBe(kept.content);
    expect((await aliasResolveRun(world)).nodesProcessed).toBe(0);
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

    expect((await aliasResolveRun(world)).nodesModified).toBe(0);
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

    expect((await aliasResolveRun(world)).nodesProcessed).toBe(0);
  });
});

test("names that mean nearly the same stay two, and no edge joins them", async () => {
  const world = await opened();
  const one = await entity(world, "Anna Maria Sofia Keller");
  await entity(world, "Anna Maria Sofia Elisabeth Keller");

  expect(await aliasResolveRun(world)).toMatchObject(DONE);
  expect(await world.engine.neighborhood(one.id)).toEqual([]);
});

test("what a personal word stands for is never compared", async () => {
  const world = await opened();
  await entity(world, "she", { metadata: { entity_type: "person" } });
  await entity(world, "She", { metadata: { entity_type: "person" } });

  expect((await aliasResolveRun(world)).nodesProcessed).toBe(0);
});

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
