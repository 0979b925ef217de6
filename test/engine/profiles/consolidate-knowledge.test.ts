import { expect, test } from "bun:test";
import type { MemoryNode } from "../../../src/domain/node.ts";
import type { KnowledgeInput } from "../../../src/engine/profiles.ts";
import {
  expectInvalid,
  type OpenedEngine,
  testClock,
  tokenizer,
  useEngines,
  wordEmbedder,
} from "../engines.ts";
import { refusal, remember, reread } from "../lifecycle/memories.ts";

const { open } = useEngines();

async function opened(embedder = wordEmbedder()): Promise<OpenedEngine> {
  const world = await open({ clock: testClock(), embedder });
  for (const content of [
    "Anna lives in Lisbon",
    "Anna drinks tea",
    "the cat of anna is called Mia",
    "Hannah lives in Porto",
    "Nobody is meant here",
  ]) {
    await remember(world.engine, content);
  }
  return world;
}

async function profiles({ engine }: OpenedEngine): Promise<readonly MemoryNode[]> {
  return engine.queryNodes({ nodeType: "summary", oldestFirst: true });
}

const gather = ({ engine }: OpenedEngine, given: Partial<KnowledgeInput> = {}) =>
  engine.consolidateKnowledge({ userId: "ada", entityNames: ["Anna"], ...given });

test("what memories say about a name is gathered in a summary, whole and in the order of time", async () => {
  const world = await opened();

  expect(await gather(world)).toBe(1);

  const [profile, ...others] = await profiles(world);
  expect(others).toEqual([]);
  expect(profile).toMatchObject({
    lifecycleState: "tentative",
    epistemicType: "inferred",
    sourceType: "system_inferred",
    decayProfile: "fast",
    salience: 0.7,
    confidence: 0.55,
    metadata: {
      entity_profile: true,
      entity_name: "Anna",
      source_count_available: 3,
      source_count_included: 3,
      profile_format_version: 2,
      tokenizer: tokenizer.name,
      tokens_used: tokenizer.count(profile?.content ?? ""),
    },
  });
  const lines = profile?.content.split("\n") ?? [];
  expect(lines[0]).toBe("[profile of Anna]");
  expect(lines.filter((line) => /^(?:Anna|the cat|Hannah)/.test(line))).toEqual([
    "Anna lives in Lisbon",
    "Anna drinks tea",
    "the cat of anna is called Mia",
  ]);
  const found = await world.engine.retrieve({ query: "Anna Lisbon tea cat", userId: "ada" });
  expect(found.results.map((result) => result.node.id)).toContain(profile?.id as never);
});

test("each call replaces the former profile, and archives it once two memories no longer mention the name", async () => {
  const world = await opened();
  await gather(world);
  const [first] = await profiles(world);

  expect(await gather(world)).toBe(1);
  const [second, ...others] = await profiles(world);
  expect(others).toEqual([]);
  expect((await reread(world.engine, first?.id ?? "")).lifecycleState).toBe("archived");
  for (const { id, content } of await world.engine.queryNodes({ userId: "ada" })) {
    if (/Anna|anna/.test(content) && id !== second?.id) await world.engine.archive(id);
  }
  expect(await gather(world)).toBe(0);
  expect(await profiles(world)).toEqual([]);
});

test("memories that do not fit are left out, and nothing changes if none does", async () => {
  const world = await opened();
  const long = `Anna ${"walks along the river and ".repeat(40)}rests`;
  await remember(world.engine, long);
  await gather(world, { maxProfileTokens: 400 });
  const [profile] = await profiles(world);
  expect(profile?.content).not.toContain("river");
  expect(profile?.metadata).toMatchObject({
    source_count_available: 4,
    source_count_included: 3,
  });

  expect(await gather(world, { maxProfileTokens: 5 })).toBe(0);
  expect(await profiles(world)).toEqual([profile] as MemoryNode[]);
});

test("without names those are gathered about that are used three times, in each scope apart", async () => {
  const world = await opened();
  await remember(world.engine, "Anna swims", { scope: "project" });
  await remember(world.engine, "Anna swims and Anna and Anna run", { userId: "bob" });
  await remember(world.engine, "Anna has been to Oslo");

  expect(await gather(world, { entityNames: undefined })).toBe(1);
  const [profile] = await profiles(world);
  expect(profile?.metadata).toMatchObject({ entity_name: "Anna", source_count_included: 4 });
  expect(profile?.content).not.toContain("swims");
});

/** An engine in which something happens while a profile is made, once. */
async function interrupted() {
  const words = wordEmbedder();
  let meanwhile: (() => Promise<unknown>) | undefined;
  const world = await opened({
    ...words,
    embedDocument: async (text: string) => {
      const change = text.startsWith("[profile") ? meanwhile : undefined;
      if (change !== undefined) meanwhile = undefined;
      await change?.();
      return words.embedDocument(text);
    },
  });
  const during = (change: () => Promise<unknown>) => {
    meanwhile = change;
  };
  return { world, during };
}

test("a memory that changes while a profile is made makes it stale; calling again makes it from what is there", async () => {
  const { world, during } = await interrupted();
  const [tea] = await world.engine.queryNodes({ contentContainsAny: ["tea"] });
  during(() => world.engine.archive(tea?.id ?? ""));

  expect(await refusal(gather(world))).toMatchObject({
    code: "stale_profile",
    data: { entity_name: "Anna" },
  });
  expect(await profiles(world)).toEqual([]);
  expect(await gather(world)).toBe(1);
  expect((await profiles(world))[0]?.content).not.toContain("tea");
});

test.each([
  { name: "the first profile", former: 0 },
  { name: "another one", former: 1 },
])("of two calls that make $name at once the later one is stale", async ({ former }) => {
  const { world, during } = await interrupted();
  for (let done = 0; done < former; done += 1) await gather(world);
  during(() => gather(world));

  expect((await refusal(gather(world))).code).toBe("stale_profile");
  expect(await profiles(world)).toHaveLength(1);
});

test("an owner, names and a budget of tokens are checked", async () => {
  const { engine } = await opened();
  const call = (given: object) => engine.consolidateKnowledge({ userId: "ada", ...given });

  await expectInvalid(call({ userId: " " }), { field: "user_id" });
  await expectInvalid(call({ entityNames: [" "] }), { field: "entity_names" });
  await expectInvalid(call({ maxProfileTokens: -1 }), { field: "max_profile_tokens" });
  await expectInvalid(call({ maxProfileTokens: 1.5 }), { field: "max_profile_tokens" });
});
