/**
 * Writes the sample packs of the present format that later versions of the program have to open: one unencrypted file, one
 * encrypted, one directory, and beside them what they hold; what can be compressed is. Run once for each released format:
 *   bun scripts/make-compat-pack.ts
 * Of a step that changes tables alone the encrypted one is not kept. Refuses to replace packs that are there: a pack of an earlier version cannot be made again.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { filesOf } from "../src/adapters/sqlite/connection/layout.ts";
import { migrations } from "../src/adapters/sqlite/schema/schema.ts";
import { MemoryEngine } from "../src/app/memory-engine.ts";
import { layoutOf, settingsForPath } from "../src/app/pack-path.ts";
import { loadConfig } from "../src/config/load.ts";
import type { ConfigInput } from "../src/config/schema.ts";
import { compactPack, migratePack } from "../src/packs/maintenance.ts";
import { COMPAT_KEY, type CompatContent, readContent } from "../test/compat/content.ts";

const MEMORIES = [
  { userId: "anna", content: "Anna prefers green tea to coffee.", nodeType: "preference" },
  { userId: "anna", content: "The spare key lies under the blue flower pot.", nodeType: "fact" },
  { userId: "anna", content: "Who feeds the cat?", sessionId: "monday" },
  {
    userId: "anna",
    content: "Tom does, every evening at six.",
    sessionId: "monday",
    role: "assistant",
  },
  { userId: "tom", content: "東京で会いましょう 👋", metadata: { list: [1, 2.5, null, "ß"] } },
  {
    userId: "tom",
    content: "Pay the invoice.",
    nodeType: "task",
    eventTime: "2026-03-01T10:00:00Z",
  },
] as const;

const OFF: ConfigInput = { encryption_enabled: false };
const ON: ConfigInput = { encryption_enabled: true, encryption_key: COMPAT_KEY };

const step = migrations("core").at(-1)?.version ?? 0;
const folder = resolve(import.meta.dir, `../test/compat/packs/step${step}`);
if (existsSync(join(folder, "content.json"))) {
  console.error(`${folder} holds packs already and stays as it is`);
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
const made = mkdtempSync(join(tmpdir(), "svc-compat-"));

const directory = join(made, "directory");
const engine = await MemoryEngine.create({ ...settingsForPath(directory), ...OFF });
for (const memory of MEMORIES) await engine.store(memory);
await engine.retrieve({ userId: "anna", query: "where is the spare key?" });
await engine.ingestFast({ userId: "tom", content: "Not yet processed." });
await engine.close();

const config = (encryption: ConfigInput, path: string) =>
  loadConfig({ explicit: { ...settingsForPath(path), ...encryption }, environment: {} }).config;
const plain = join(made, "plain.pack");
await compactPack(config(OFF, directory));
await migratePack(config(OFF, directory), plain);
await migratePack(config(ON, directory), join(folder, "encrypted.pack"));
for (const file of [plain, ...filesOf(layoutOf(config(OFF, directory)))]) {
  const packed = join(folder, `${file.slice(made.length)}.zst`);
  mkdirSync(join(packed, ".."), { recursive: true });
  writeFileSync(packed, Bun.zstdCompressSync(readFileSync(file), { level: 19 }));
}

const content: CompatContent = readContent({ kind: "file", path: plain }, undefined);
writeFileSync(join(folder, "content.json"), `${JSON.stringify(content, null, 2)}\n`);
rmSync(made, { recursive: true });
