import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { mainPath } from "../../../src/adapters/sqlite/connection/layout.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import { directoryPack, encrypted, RAW_KEY } from "../../contract/sqlite-pack.ts";
import { until } from "../../until.ts";
import { DEFAULT_SETTINGS, type OpenedEngine, useEngines, wordEmbedder } from "../engines.ts";

const { open, newPack } = useEngines();

const settings = {
  storeSteps: { ...DEFAULT_SETTINGS.storeSteps, pairsTurns: true },
  upkeep: undefined,
};

async function say({ engine }: OpenedEngine, content: string, given: Partial<StoreInput> = {}) {
  return engine.storeWithReceipt({ content, userId: "ada", sessionId: "monday", ...given });
}

async function pairs({ engine }: OpenedEngine, userId = "ada") {
  const nodes = await engine.queryNodes({ userId, oldestFirst: true });
  return nodes.filter(({ metadata }) => metadata?.["qa_pair"] === true);
}

const ANSWER = { role: "assistant" } as const;

test("a locked engine remembers no turn of a conversation", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-r2-"));
  try {
    const opened = await open({ settings, pack: encrypted(directoryPack(folder)) });
    await say(opened, "Who feeds the cat?");
    await opened.engine.lock();
    await opened.engine.unlock(RAW_KEY);

    await say(opened, "Tom, at six.", ANSWER);

    expect(await pairs(opened)).toEqual([]);
    await say(opened, "And on Sunday?");
    expect(await pairs(opened)).toHaveLength(1);
    await opened.engine.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

describe("two turns by different speakers", () => {
  test("are stored together too, and found by words of either", async () => {
    const opened = await open({ settings });
    await say(opened, "Who feeds the cat?");

    const { node, eventId } = await say(opened, "Tom, at six.", ANSWER);

    const [pair, ...more] = await pairs(opened);
    expect(more).toEqual([]);
    expect(pair).toEqual({
      ...node,
      id: pair?.id ?? node.id,
      content: "Who feeds the cat?\nTom, at six.",
      sessionId: undefined,
      metadata: { qa_pair: true },
      evidenceRefs: [eventId],
      ttlDays: undefined,
      createdAt: pair?.createdAt ?? node.createdAt,
      updatedAt: pair?.createdAt ?? node.createdAt,
      lastReinforcedAt: pair?.createdAt ?? node.createdAt,
    });
    for (const query of ["cat", "Tom"]) {
      const { results } = await opened.engine.retrieve({ query, userId: "ada" });
      const found = results.find((result) => result.node.id === pair?.id);
      expect(found?.paths).toEqual(expect.arrayContaining(["VECTOR", "LEXICAL"]));
    }
    expect((await opened.engine.getEventNodes(eventId, "ada"))?.map(({ id }) => id)).toEqual(
      [node.id, pair?.id ?? node.id].sort(),
    );
  });

  test("of the type, scope and kind of knowledge of the second", async () => {
    const opened = await open({ settings });
    await say(opened, "Is tea green?", { scope: "project" });
    await say(opened, "Yes.", {
      ...ANSWER,
      scope: "project",
      nodeType: "fact",
      epistemicType: "asserted",
      sourceType: "external_document",
      confidence: 0.4,
    });

    expect(await pairs(opened)).toMatchObject([
      {
        nodeType: "fact",
        scope: "project",
        epistemicType: "asserted",
        sourceType: "external_document",
        confidence: 0.4,
        confidenceBase: 0.4,
        salience: 0.5,
      },
    ]);
  });

  test("carry the names of who spoke, unless the text does", async () => {
    const opened = await open({ settings });
    await say(opened, "Who feeds the cat?", { speaker: "Ada" });
    await say(opened, "TOM: I do.", { speaker: "Tom" });
    await say(opened, "Fine.", { speaker: "Ada" });

    expect((await pairs(opened)).map(({ content }) => content)).toEqual([
      "Ada: Who feeds the cat?\nTOM: I do.",
      "TOM: I do.\nAda: Fine.",
    ]);
  });

  test("survive a rebuild of the indexes, and the end of the process", async () => {
    const first = await open({ settings });
    await say(first, "Who feeds the cat?");
    await say(first, "Tom, at six.", ANSWER);
    const [pair] = await pairs(first);
    await first.engine.close();
    const again = await open({ settings, pack: first.pack });
    await again.engine.rebuildIndexes({ all: true });

    const { results } = await again.engine.retrieve({ query: "cat six", userId: "ada" });

    const found = results.find(({ node }) => node.id === pair?.id);
    expect(found?.paths).toEqual(expect.arrayContaining(["VECTOR", "LEXICAL"]));
    expect(await pairs(again)).toEqual(pair === undefined ? [] : [pair]);
  });

  test.each(["vectors.index", "lexical_index"])(
    "are found again in a directory pack that has lost %s",
    async (lost) => {
      const folder = dirname(mainPath(newPack().layout));
      const pack = directoryPack(folder);
      const first = await open({ settings, pack });
      await say(first, "Who feeds the cat?");
      await say(first, "Tom, at six.", ANSWER);
      const [pair] = await pairs(first);
      // Cited again, it is still of the event that brought it.
      await first.engine.reinforce(pair?.id ?? "", { evidenceId: pair?.evidenceRefs[0] });
      await first.engine.close();
      rmSync(join(folder, lost), { recursive: true });

      const again = await open({ settings, pack });
      await until(async () => (await again.store.countJobs("ada")).pending === 0);

      const { results } = await again.engine.retrieve({ query: "cat six", userId: "ada" });
      const found = results.find(({ node }) => node.id === pair?.id);
      expect(found?.paths).toEqual(expect.arrayContaining(["VECTOR", "LEXICAL"]));
      expect(await again.store.countNodes("ada")).toBe(3);
    },
  );

  test.each([
    { name: "of one speaker", second: {} },
    { name: "of a user, once called human", second: { role: "human" } },
    { name: "in two sessions", second: { ...ANSWER, sessionId: "tuesday" } },
    { name: "of which one has no session", second: { ...ANSWER, sessionId: undefined } },
    { name: "of two scopes", second: { ...ANSWER, scope: "project" } },
    { name: "of two owners", second: { ...ANSWER, userId: "bob" } },
    { name: "of 1000 characters", second: { ...ANSWER, content: "😀".repeat(982) } },
  ] as const)("$name are not", async ({ second }) => {
    const opened = await open({ settings });
    expect("Who feeds the cat?").toHaveLength(18);
    await say(opened, "Who feeds the cat?");

    await say(opened, "Tom, at six.", second);

    expect(await pairs(opened)).toEqual([]);
    expect(await pairs(opened, "bob")).toEqual([]);
    expect(opened.warnings).toEqual([]);
  });

  test("of 999 characters are", async () => {
    const opened = await open({ settings });
    await say(opened, "Who feeds the cat?");

    await say(opened, "😀".repeat(981), ANSWER);

    expect(await pairs(opened)).toHaveLength(1);
  });

  test("are not once the first was retired", async () => {
    const opened = await open({ settings });
    const { nodeId } = await say(opened, "My number is 1234");
    await opened.engine.archive(nodeId);

    await say(opened, "Noted.", ANSWER);

    expect(await pairs(opened)).toEqual([]);
  });

  test.each([0, 1])(
    "are not once turn %d of them was retired while the model worked",
    async (gone) => {
      const words = wordEmbedder();
      const turns: string[] = [];
      const embedder = wordEmbedder({
        embedDocument: async (text) => {
          if (text.includes("\n")) {
            const nodes = await opened.engine.queryNodes({ userId: "ada", oldestFirst: true });
            turns.push(...nodes.map(({ content }) => content));
            await opened.engine.archive(nodes[gone]?.id ?? "");
          }
          return words.embedDocument(text);
        },
      });
      const opened = await open({ settings, embedder });
      await say(opened, "My number is 1234");

      await say(opened, "Noted.", ANSWER);

      expect(turns).toEqual(["My number is 1234", "Noted."]);
      expect(await pairs(opened)).toEqual([]);
      expect(opened.warnings).toEqual([]);
    },
  );

  test("are neither written nor indexed in part when the model fails for the pair", async () => {
    const words = wordEmbedder();
    const embedder = wordEmbedder({
      embedDocument: async (text) => {
        if (text.includes("\n")) throw new Error("secret");
        return words.embedDocument(text);
      },
    });
    const opened = await open({ settings, embedder });
    await say(opened, "Who feeds the cat?");

    const { processingStatus } = await say(opened, "Tom, at six.", ANSWER);

    expect(processingStatus.status).toBe("complete");
    expect(await pairs(opened)).toEqual([]);
    expect(opened.warnings).toEqual([expect.stringContaining("was not paired")]);
    expect(opened.warnings.join()).not.toContain("secret");
  });
});

test("only the turn before is paired, turn by turn", async () => {
  const opened = await open({ settings });
  await say(opened, "one?");
  await say(opened, "two", ANSWER);
  await say(opened, "three?");
  await say(opened, "four?");
  await say(opened, "five", ANSWER);

  expect((await pairs(opened)).map(({ content }) => content)).toEqual([
    "one?\ntwo",
    "two\nthree?",
    "four?\nfive",
  ]);
});

test("no pairs are made unless they are turned on", async () => {
  const opened = await open({ settings: { upkeep: undefined } });
  await say(opened, "Who feeds the cat?");
  await say(opened, "Tom, at six.", ANSWER);

  expect(await opened.store.countNodes("ada")).toBe(2);
});
