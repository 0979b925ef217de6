import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mainPath } from "../../src/adapters/sqlite/connection/layout.ts";
import { readManifest, writeEmbedding } from "../../src/adapters/sqlite/schema/manifest.ts";
import { readPackFusion } from "../../src/adapters/sqlite/schema/pack-fusion.ts";
import { openEngine } from "../../src/app/open-engine.ts";
import { layoutOf, settingsForPath } from "../../src/app/pack-path.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { Config, ConfigInput } from "../../src/config/schema.ts";
import { DEFAULT_MODEL } from "../../src/domain/embedding-models.ts";
import type { MemoryEngine } from "../../src/engine/memory-engine.ts";
import { reportOnPack } from "../../src/packs/inspect-pack.ts";
import { compactPack, migratePack, rekeyPack } from "../../src/packs/maintenance.ts";
import { bytesBelow } from "../adapters/sqlite/folder.ts";
import { REAL_MODEL } from "../engine/engines.ts";
import { COMPAT_KEY, type CompatContent, openPack, readContent, readTables } from "./content.ts";

const PACKS = join(import.meta.dir, "packs");
const MASTER_KEY = new Uint8Array(Buffer.from(COMPAT_KEY.slice("raw_key:".length), "base64url"));
const OFF: ConfigInput = { encryption_enabled: false };
const ON: ConfigInput = { encryption_enabled: true, encryption_key: COMPAT_KEY };
const KINDS = [
  { kind: "plain.pack", encryption: OFF, masterKey: undefined },
  { kind: "encrypted.pack", encryption: ON, masterKey: MASTER_KEY },
  { kind: "directory", encryption: OFF, masterKey: undefined },
] as const;

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "svc-compat-"));
const before = bytesBelow(PACKS);
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  // The tests work on copies; these packs cannot be made again.
  expect(bytesBelow(PACKS)).toEqual(before);
});

const configOf = (path: string, encryption: ConfigInput): Config =>
  loadConfig({ explicit: { ...settingsForPath(path), ...encryption }, environment: {}, folder })
    .config;

/** Opens a pack as a program does, with a model that is loaded once for all of them. */
const open = (config: Config): Promise<MemoryEngine> =>
  openEngine(config, {
    makeEmbedder: async (_, model) => {
      expect(model).toBe(DEFAULT_MODEL);
      return REAL_MODEL;
    },
  });

const CASES = readdirSync(PACKS).flatMap((version) =>
  KINDS.map((pack) => ({ ...pack, version, name: `${pack.kind} of ${version}` })),
);

test("there are packs of every version", () => {
  expect(readdirSync(PACKS).toSorted()).toEqual([
    "v1",
    "v1-step10",
    "v1-step11",
    "v1-step5",
    "v1-step7",
    "v1-step8",
    "v1-step9",
  ]);
});

describe.each(CASES)("$name", ({ version, kind, encryption, masterKey }) => {
  const fusion = ["v1-step9", "v1-step10", "v1-step11"].includes(version) ? "adaptive" : "rrf";
  // SAFETY: scripts/make-compat-pack.ts wrote it.
  const content = JSON.parse(
    readFileSync(join(PACKS, version, "content.json"), "utf8"),
  ) as CompatContent;
  let serial = 0;
  const copy = (): string => {
    serial += 1;
    const path = join(folder, `${version}-${serial}-${kind}`);
    cpSync(join(PACKS, version, kind), path, { recursive: true });
    return path;
  };
  const read = (config: Config, key: Uint8Array | undefined): CompatContent =>
    readContent(layoutOf(config), key, content);

  test("is sound and holds what was written, before and after it is opened", async () => {
    const path = copy();
    const config = configOf(path, encryption);
    expect(await reportOnPack(config, true)).toMatchObject({
      damage: [],
      eventCount: content.events.length,
    });
    expect(read(config, masterKey)).toEqual(content);
    const engine = await open(config);
    for (const { id, userId, content: text } of content.events) {
      expect((await engine.getEvent(id, userId))?.content).toBe(text);
    }
    await engine.processPending();
    const { results } = await engine.retrieve({ userId: "anna", query: "where is the spare key?" });
    expect(results[0]?.node.content).toContain("spare key");
    // By the fusion with which it was made.
    const formulaVersion = fusion === "rrf" ? 2 : 4;
    expect(results[0]?.provenance).toMatchObject({ formulaVersion, fusion: { kind: fusion } });
    await engine.store({ userId: "eve", content: "Written by a later version." });
    await engine.close();
    const { tables, events } = read(config, masterKey);
    expect(events.slice(0, content.events.length)).toEqual([...content.events]);
    expect(tables["edges"]).toEqual(content.tables["edges"]);
    expect(await reportOnPack(config, true)).toMatchObject({ damage: [], pendingJobs: 0 });
  });

  test("gains the tables of later versions when it is opened for writing", async () => {
    const path = copy();
    const config = configOf(path, encryption);
    const gained = [
      "rebuild_state",
      "receipts",
      "node_evidence",
      "pack_settings",
      "work",
      "receipt_nodes",
      "memory_operations",
      "erasures",
      "blobs",
      "blob_uses",
    ];
    const before = readTables(layoutOf(config), masterKey);
    const engine = await open(config);
    await engine.close();
    const after = readTables(layoutOf(config), masterKey);
    expect(before.includes("work")).toBe(
      ["v1-step8", "v1-step9", "v1-step10", "v1-step11"].includes(version),
    );
    // The queue took the place of the table of jobs, which is a view now.
    const kept = before.filter((table) => table !== "jobs");
    expect(after).toEqual(expect.arrayContaining([...kept, ...gained]));
  });

  test("forgets for good what an earlier version wrote", async () => {
    const engine = await open(configOf(copy(), encryption));
    await engine.processPending();
    const input = { userId: "anna", containing: "spare key" };
    const { confirm } = await engine.forget(input);
    const answer = await engine.forget({ ...input, mode: "erase", confirm });
    // Others have memories in it: their owner is told nothing of the pages, an operator is.
    expect(answer).toMatchObject({ stage: "physical", receipt: { scan: { hits: null } } });
    const { checks } = await engine.verifyForgetting(answer.receipt, answer.memories[0]?.excerpt);
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(checks.at(-1)?.detail).toStartWith("0 pieces of it in ");
    expect((await engine.forget(input)).confirm).toBeUndefined();
    await engine.close();
  });

  test("keeps its fusion until its vectors are of another model", async () => {
    const path = copy();
    const config = configOf(path, encryption);
    await (await open(config)).close();
    const database = openPack(layoutOf(config), masterKey);
    const fusionWith = (model: string) => {
      const { embedding, updatedAt } = readManifest(database)!;
      writeEmbedding(database, { ...embedding, model }, updatedAt);
      return readPackFusion(database);
    };
    expect(readPackFusion(database)).toBe(fusion);
    expect(fusionWith("BAAI/bge-small-en-v1.5")).toBe(fusion);
    expect(fusionWith("intfloat/multilingual-e5-small")).toBe("adaptive");
    database.close();
  });

  test("keeps its content when it is compacted, rekeyed and migrated", async () => {
    const path = copy();
    const config = configOf(path, encryption);
    await compactPack(config);
    expect(read(config, masterKey)).toEqual(content);
    if (kind === "directory") {
      const destination = `${path}.pack`;
      await migratePack(configOf(path, ON), destination);
      expect(read(configOf(destination, ON), MASTER_KEY)).toEqual(content);
    }
    const isPlain = masterKey === undefined;
    await rekeyPack(
      config,
      isPlain ? { kind: "encrypted", key: COMPAT_KEY, isFirst: true } : { kind: "plain" },
    );
    const after = configOf(path, isPlain ? ON : OFF);
    expect(read(after, isPlain ? MASTER_KEY : undefined)).toEqual(content);
    const isClear = readFileSync(mainPath(layoutOf(after))).includes("flower pot");
    expect(isClear).toBe(!isPlain);
  });
});
