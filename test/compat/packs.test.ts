import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { mainPath } from "../../src/adapters/sqlite/connection/layout.ts";
import { migrations } from "../../src/adapters/sqlite/schema/schema.ts";
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
import { COMPAT_KEY, type CompatContent, readContent } from "./content.ts";

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

/** Steps that change tables alone have no encrypted pack: it would have the pages of the one before. */
const HAVE_PAGES = ["step1"];
const CASES = readdirSync(PACKS).flatMap((version) =>
  KINDS.filter(({ encryption }) => encryption === OFF || HAVE_PAGES.includes(version)).map(
    (pack) => ({ ...pack, version, name: `${pack.kind} of ${version}` }),
  ),
);

test("there are packs of every step", () => {
  const steps = migrations("core").map(({ version }) => `step${version}`);
  expect(readdirSync(PACKS).toSorted()).toEqual(steps.toSorted());
});

describe.each(CASES)("$name", ({ version, kind, encryption, masterKey }) => {
  // SAFETY: scripts/make-compat-pack.ts wrote it.
  const content = JSON.parse(
    readFileSync(join(PACKS, version, "content.json"), "utf8"),
  ) as CompatContent;
  let serial = 0;
  const copy = (): string => {
    serial += 1;
    const path = join(folder, `${version}-${serial}-${kind}`);
    const names = readdirSync(join(PACKS, version), { recursive: true, withFileTypes: true });
    for (const entry of names.filter((one) => one.isFile())) {
      const file = join(entry.parentPath, entry.name);
      const name = relative(join(PACKS, version), file).replace(/\.zst$/, "");
      if (name !== kind && !name.startsWith(`${kind}/`)) continue;
      const target = `${path}${name.slice(kind.length)}`;
      mkdirSync(dirname(target), { recursive: true });
      const bytes = readFileSync(file);
      writeFileSync(target, file.endsWith(".zst") ? Bun.zstdDecompressSync(bytes) : bytes);
    }
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
    await engine.store({ userId: "eve", content: "Written by a later version." });
    // The feed of changes has all memories.
    for (const userId of ["anna", "tom", "eve"]) {
      const { nodes } = await engine.browse({ userId });
      const { changes } = await engine.changes({ userId });
      const ids = changes.map(({ nodeId }) => nodeId);
      expect(ids.toSorted()).toEqual(nodes.map(({ id }) => id).toSorted());
    }
    await engine.close();
    const { tables, events } = read(config, masterKey);
    expect(events.slice(0, content.events.length)).toEqual([...content.events]);
    expect(tables["edges"]).toEqual(content.tables["edges"]);
    expect(await reportOnPack(config, true)).toMatchObject({ damage: [], pendingJobs: 0 });
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

  test("explains an answer that it gave", async () => {
    const engine = await open(configOf(copy(), encryption));
    const { retrievals } = await engine.listRetrievals({ userId: "anna" });
    expect(retrievals.map(({ query }) => query)).toEqual(["where is the spare key?"]);
    const kept = await engine.getRetrievalReceipt(retrievals[0]!.requestId, "anna");
    expect(kept?.receipt.candidates[0]?.inContext).toBeTrue();
    await engine.close();
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
