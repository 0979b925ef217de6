/** Searches that fail, and indexes that are lost, damaged or of another model: what the others found is the answer. */
import { describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mainPath } from "../../src/adapters/sqlite/connection/layout.ts";
import type { RetrievalResponse } from "../../src/engine/retrieve/api.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { directoryPack, type SqlitePack } from "../contract/sqlite-pack.ts";
import { type OpenedEngine, useEngines, wordEmbedder } from "../engine/engines.ts";
import {
  ask,
  contentsOf,
  fillWorld,
  packing,
  readRaw,
  runRaw,
} from "../engine/retrieve/pipeline-world.ts";
import { DISK } from "./disk-folder.ts";

const { open } = useEngines({ upkeep: undefined });

const SECRET = "a text that nobody may see";
const QUESTION = "Which hotel did Marta choose in Lisbon?";

const SETTINGS = packing({ sessionContextWindow: 0, crossScopeTopN: 3 });

const rejects = () => Promise.reject(new Error(SECRET));

/** What one search alone brings: graph, vectors, words and pins each reach something that no other does. */
async function openWorld(alter?: (store: Store) => Partial<Store>): Promise<OpenedEngine> {
  const opened = await open({ settings: SETTINGS, ...(alter && { alter }) });
  await fillWorld(opened);
  return opened;
}

/** That an answer is complete in itself, kept, and tells nothing of what went wrong beyond its name. */
async function expectSound(opened: OpenedEngine, answer: RetrievalResponse): Promise<void> {
  const { metadata, bundle, results } = answer;
  const kept = await opened.engine.getRetrievalReceipt(metadata.requestId, "ada");
  expect(kept?.record.backendFailures).toEqual(metadata.backendFailures);
  expect(kept?.receipt.candidates.map(({ nodeId }) => nodeId)).toEqual(
    results.map(({ node }) => node.id),
  );
  expect(bundle.includedCount).toBeGreaterThan(0);
  for (const { compositeScore, semanticRelevance } of results) {
    expect(compositeScore).toBeWithin(0, 2);
    expect(semanticRelevance).toBeWithin(0, 1.000001);
  }
  expect(JSON.stringify([answer, kept, opened.warnings])).not.toContain(SECRET);
}

describe("a search that fails on its own", () => {
  const CASES: readonly {
    readonly fails: keyof Store & string;
    readonly named: string;
    readonly without: "GRAPH" | "VECTOR" | "LEXICAL" | "PINNED";
  }[] = [
    { fails: "searchGraph", named: "GRAPH", without: "GRAPH" },
    { fails: "searchVectors", named: "VECTOR", without: "VECTOR" },
    { fails: "searchText", named: "LEXICAL", without: "LEXICAL" },
    { fails: "pinned", named: "PINNED", without: "PINNED" },
  ];

  test.each(CASES)("$fails is named, and the answer is made from the others", async (given) => {
    const opened = await openWorld(() => ({ [given.fails]: rejects }));

    const answer = await ask(opened.engine, QUESTION);

    const { metadata, results } = answer;
    const paths = new Set(results.flatMap((result) => result.paths));
    const others = ["GRAPH", "VECTOR", "LEXICAL", "PINNED"].filter(
      (path) => path !== given.without,
    );
    expect(metadata.backendFailures).toEqual({ [given.named]: "backend_error" });
    expect(metadata.candidatesGenerated[given.without]).toBe(0);
    expect([...paths].sort()).toEqual(others.sort() as never);
    expect(metadata.embeddingMismatch).toBe(false);
    await expectSound(opened, answer);
  });

  test("cosines of what others found are named, and their relevance is 0", async () => {
    const opened = await open({
      settings: packing({ vectorK: 2, sessionContextWindow: 0 }),
      alter: () => ({ cosines: rejects }),
    });
    await fillWorld(opened);

    const answer = await ask(opened.engine, QUESTION, { minScore: 0.01 });

    expect(answer.metadata).toMatchObject({
      backendFailures: { VECTOR: "backend_error" },
      minScoreSkipped: false,
    });
    expect(answer.results.map(({ paths }) => paths.includes("VECTOR"))).toEqual([true, true]);
    await expectSound(opened, answer);
  });

  test("the scan of a count is named apart from the search of words", async () => {
    const opened = await openWorld((store) => ({
      searchText: (question, ...rest) =>
        question.split(" ").length < 3 ? rejects() : store.searchText(question, ...rest),
    }));

    const answer = await ask(opened.engine, "How many hotels are in Lisbon?");

    expect(answer.metadata.backendFailures).toEqual({ LEXICAL_AGG: "backend_error" });
    expect(answer.metadata.aggregationCoverage?.limitations).toContain("backend_failure");
    await expectSound(opened, answer);
  });

  test.each(["sessionWindows", "nodesById"] as const)(
    "%s is left out with a warning",
    async (name) => {
      const opened = await open({
        settings: packing({ evidenceAugmentationTopK: 2 }),
        alter: () => ({ [name]: rejects }),
      });
      await fillWorld(opened);

      const answer = await ask(opened.engine, QUESTION);

      expect(answer.metadata.backendFailures).toEqual({});
      expect(opened.warnings).toHaveLength(1);
      await expectSound(opened, answer);
    },
  );

  test("all of them fail, and the answer is empty and says so", async () => {
    const opened = await openWorld(() => ({
      searchGraph: rejects,
      searchVectors: rejects,
      searchText: rejects,
      pinned: rejects,
    }));

    const { results, bundle, metadata, crossScopeHints } = await ask(opened.engine, QUESTION, {
      scope: "personal",
      minScore: 0.5,
    });

    expect([results, crossScopeHints, bundle.renderedContext]).toEqual([[], [], ""]);
    expect(metadata).toMatchObject({ receiptPersisted: true, minScoreSkipped: true });
    expect(Object.keys(metadata.backendFailures).sort()).toEqual([
      "GRAPH",
      "LEXICAL",
      "PINNED",
      "VECTOR",
    ]);
  });

  test.each(["nodesByKey", "contradictions"] as const)(
    "%s fails the call, since no answer would be right",
    async (name) => {
      const opened = await openWorld(() => ({ [name]: rejects }));
      await expect(ask(opened.engine, QUESTION)).rejects.toThrow();
    },
  );
});

/** Bytes of a page of a pack. */
const PAGE = 8192;

/** Overwrites the first page of a table in the file of a pack that nobody has open. */
function damage(pack: SqlitePack, table: string, change: (page: Buffer) => void): void {
  const [row] = readRaw<{ rootpage: number }>(
    pack,
    `SELECT rootpage FROM sqlite_schema WHERE name = '${table}'`,
  );
  const path = mainPath(pack.layout);
  const bytes = readFileSync(path);
  const start = ((row?.rootpage ?? 0) - 1) * PAGE;
  const page = bytes.subarray(start, start + PAGE);
  const before = Buffer.from(page);
  change(page);
  expect(page.equals(before)).toBe(false);
  writeFileSync(path, bytes);
}

describe("a caller who gives up", () => {
  test.each([
    "countJobs",
    "searchGraph",
    "pinned",
    "searchVectors",
    "searchText",
    "cosines",
    "nodesByKey",
    "sessionWindows",
    "nodesById",
    "contradictions",
  ] as const)("during %s gets the reason, and no receipt is kept", async (name) => {
    const caller = new AbortController();
    let isArmed = false;
    const opened = await open({
      settings: packing({ evidenceAugmentationTopK: 2, vectorK: 5 }),
      alter: (store) => ({
        [name]: (...args: readonly unknown[]) => {
          if (isArmed) caller.abort(new Error("enough"));
          return Reflect.apply(store[name], store, args);
        },
      }),
    });
    await fillWorld(opened);
    isArmed = true;

    const asking = ask(opened.engine, QUESTION, { scope: "personal", signal: caller.signal });

    await expect(asking).rejects.toThrow("enough");
    expect(caller.signal.aborted).toBe(true);
    expect(readRaw(opened.pack, "SELECT key FROM receipts")).toEqual([]);
  });
});

describe("an index that was lost", () => {
  const ERROR = { VECTOR: "backend_error" };
  /** A vector of 64 numbers of 32 bits. */
  const NOT_NUMBERS = new Uint8Array(new Float32Array(64).fill(Number.NaN).buffer);

  test.each<{ name: string; sql: readonly string[]; failures: object; bytes?: Uint8Array }>([
    { name: "emptied", sql: ["DELETE FROM vectors"], failures: {} },
    { name: "dropped", sql: ["DROP TABLE vectors"], failures: ERROR },
    {
      name: "cut short",
      sql: ["UPDATE vectors SET embedding = substr(embedding, 1, 100)"],
      failures: ERROR,
    },
    {
      name: "that are no numbers",
      sql: ["UPDATE vectors SET embedding = ?"],
      bytes: NOT_NUMBERS,
      // Nothing tells that they were others before; they are like nothing that is asked.
      failures: {},
    },
  ])("vectors $name", async ({ sql, failures, bytes }) => {
    const opened = await openWorld();
    const before = await ask(opened.engine, QUESTION);
    for (const statement of sql) runRaw(opened.pack, statement, ...(bytes ? [bytes] : []));

    for (let round = 0; round < 3; round += 1) {
      const answer = await ask(opened.engine, QUESTION);
      expect(answer.metadata.backendFailures).toEqual(failures as never);
      expect(contentsOf(answer.results)).toContain("Marta speaks Portuguese.");
      expect(answer.results.length).toBeWithin(3, before.results.length + 1);
      await expectSound(opened, answer);
    }
  });

  test.each([
    { lost: "vectors", named: "VECTOR" },
    { lost: "lexical_documents", named: "LEXICAL" },
  ])("$lost dropped before the pack is opened", async ({ lost, named }) => {
    const first = await openWorld();
    await first.engine.close();
    runRaw(first.pack, `DROP TABLE ${lost}`);
    const opened = await open({ pack: first.pack, settings: SETTINGS });

    const answer = await ask(opened.engine, QUESTION);

    expect(answer.metadata.backendFailures).toEqual({ [named]: "backend_error" });
    await expectSound(opened, answer);
  });

  test("words dropped", async () => {
    const opened = await openWorld();
    runRaw(opened.pack, "DROP TABLE lexical_documents");

    const answer = await ask(opened.engine, QUESTION);

    expect(answer.metadata.backendFailures).toEqual({ LEXICAL: "backend_error" });
    expect(answer.results.some(({ paths }) => paths.includes("VECTOR"))).toBe(true);
    await expectSound(opened, answer);
  });

  test.each([
    { name: "vectors.index", named: "VECTOR" },
    { name: "lexical_index", named: "LEXICAL" },
  ])("$name deleted from a directory pack, which mends itself", async ({ name, named }) => {
    const folder = mkdtempSync(join(DISK, "svc-lost-"));
    try {
      const pack = directoryPack(folder);
      const first = await open({ pack, settings: SETTINGS });
      for (const content of ["The hotel in Lisbon", "Marta knows Lisbon", "A green umbrella"]) {
        await first.engine.store({ content, userId: "ada" });
      }
      const before = await ask(first.engine, QUESTION);
      await first.engine.close();
      rmSync(join(folder, name), { recursive: true });
      const opened = await open({ pack, settings: SETTINGS });

      const bare = await ask(opened.engine, QUESTION);
      await opened.engine.processPending({ budgetMs: 10_000 });
      const mended = await ask(opened.engine, QUESTION);
      await opened.engine.close();

      expect(bare.metadata.backendFailures).toEqual({});
      expect(bare.results.length).toBeWithin(2, 4);
      expect(mended.metadata.candidatesGenerated[named]).toBeGreaterThan(0);
      expect(mended.results).toEqual(before.results);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("both gone, and rebuilt from the graph", async () => {
    const opened = await openWorld();
    const before = await ask(opened.engine, QUESTION);
    runRaw(opened.pack, "DELETE FROM vectors");
    runRaw(opened.pack, "INSERT INTO lexical_documents (lexical_documents) VALUES ('delete-all')");

    const bare = await ask(opened.engine, QUESTION);
    await opened.engine.rebuildIndexes();
    const after = await ask(opened.engine, QUESTION);

    expect(bare.metadata).toMatchObject({ backendFailures: {}, minScoreSkipped: false });
    expect(bare.results.flatMap(({ paths }) => paths)).not.toContain("VECTOR");
    expect(after.results).toEqual(before.results);
    expect(after.bundle.renderedContext).toBe(before.bundle.renderedContext);
  });
});

describe("a pack with a damaged page", () => {
  const TABLES = [
    { table: "vectors", named: "VECTOR" },
    { table: "vectors_by_owner", named: "VECTOR" },
    { table: "lexical_documents_data", named: "LEXICAL" },
    { table: "lexical_documents_idx", named: "LEXICAL" },
    { table: "lexical_documents_docsize", named: "LEXICAL" },
    { table: "edges_from", named: "GRAPH" },
    { table: "nodes_pinned", named: "PINNED" },
  ] as const;

  test.each<{ name: string; change: (page: Buffer) => void; isNoticed: boolean }>([
    { name: "zeros", change: (page) => page.fill(0), isNoticed: true },
    {
      name: "other bytes from the middle on",
      change: (page) => page.fill(0x5a, PAGE / 2),
      isNoticed: false,
    },
  ])("of $name in one of its indexes still answers from the others", async (given) => {
    const first = await openWorld();
    await first.engine.close();
    const path = mainPath(first.pack.layout);
    const sound = readFileSync(path);
    for (const { table, named } of TABLES) {
      writeFileSync(path, sound);
      damage(first.pack, table, given.change);
      const opened = await open({ pack: first.pack, settings: SETTINGS });
      const failures = new Set<string>();
      for (let round = 0; round < 2; round += 1) {
        const answer = await ask(opened.engine, QUESTION);
        for (const failure of Object.keys(answer.metadata.backendFailures)) failures.add(failure);
        await expectSound(opened, answer);
      }
      await opened.engine.close();

      expect([table, ...failures]).toEqual(
        given.isNoticed || failures.size > 0 ? [table, named] : [table],
      );
    }
  });

  test("where its memories are gives no answer, and says why", async () => {
    const first = await openWorld();
    await first.engine.close();
    damage(first.pack, "nodes", (page) => page.fill(0));
    const opened = await open({ pack: first.pack, settings: SETTINGS });

    await expect(ask(opened.engine, QUESTION)).rejects.toMatchObject({
      code: "pack_damaged",
      message: expect.stringContaining(mainPath(first.pack.layout)),
    });
  });

  test("where its receipts are gives answers that have none", async () => {
    const first = await openWorld();
    const known = await ask(first.engine, QUESTION);
    await first.engine.close();
    damage(first.pack, "receipts", (page) => page.fill(0));
    const opened = await open({ pack: first.pack, settings: SETTINGS });

    const answer = await ask(opened.engine, QUESTION);
    const read = (id: string) => opened.engine.getRetrievalReceipt(id, "ada");
    expect(await read(answer.metadata.requestId)).toBeUndefined();
    await expect(read(known.metadata.requestId)).rejects.toMatchObject({ code: "pack_damaged" });
    const next = await ask(opened.engine, QUESTION);

    expect(answer.results).toEqual(known.results);
    expect(next.results).toEqual(known.results);
    expect(next.metadata.receiptPersisted).toBe(false);
  });
});

describe("vectors of another model", () => {
  async function reopened(pack: SqlitePack): Promise<OpenedEngine> {
    return open({
      pack,
      embedder: wordEmbedder({ identity: { model: "other", version: "1", dimension: 64 } }),
    });
  }

  test("are not compared: the floor is skipped, and hints come by words", async () => {
    const first = await openWorld();
    await first.engine.close();
    const opened = await reopened(first.pack);

    const answer = await ask(opened.engine, "the hotel project", {
      scope: "personal",
      minScore: 0.9,
    });

    expect(answer.metadata).toMatchObject({
      embeddingMismatch: true,
      backendFailures: { VECTOR: "embedding_mismatch" },
      minScoreSkipped: true,
    });
    expect(answer.results.length).toBeGreaterThan(3);
    expect(answer.results.every(({ semanticRelevance }) => semanticRelevance === 0)).toBe(true);
    expect(contentsOf(answer.crossScopeHints)).toEqual(["The hotel project is late."]);
    await expectSound(opened, answer);
  });

  test("leave the floor of a weighted score in force", async () => {
    const first = await openWorld();
    await first.engine.close();
    const opened = await reopened(first.pack);

    const { results, metadata } = await ask(opened.engine, "hotel", {
      weights: {},
      minScore: 0.99,
    });

    expect(results).toEqual([]);
    expect(metadata.minScoreSkipped).toBe(false);
  });
});
