import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SALT_BYTES, stretched } from "../../src/adapters/crypt/keys.ts";
import { beginPack } from "../../src/adapters/sqlite/connection/pack-files.ts";
import { MemoryEngine } from "../../src/app/memory-engine.ts";
import { settingsForPath } from "../../src/app/pack-path.ts";
import { loadConfig } from "../../src/config/load.ts";
import { rekeyPack } from "../../src/packs/maintenance.ts";

const PASSPHRASE = "open sesame, said Ali";
const OWNER = "_cli";

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "svc-passphrase-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a pack from before passphrases were salted for each pack opens, and keeps its passphrase when it is rekeyed", async () => {
  const path = join(folder, "old.pack");
  copyFileSync(join(import.meta.dir, "passphrase/shared-salt.pack"), path);
  const settings = {
    ...settingsForPath(path),
    encryption_enabled: true,
    encryption_key: PASSPHRASE,
  };
  const look = async (): Promise<readonly string[]> => {
    const engine = await MemoryEngine.create(settings);
    const nodes = await engine.queryNodes({ userId: OWNER });
    await engine.close();
    return nodes.map(({ content }) => content);
  };
  expect(await look()).toEqual(["The spare key lies under the blue flower pot"]);
  const { config } = loadConfig({ explicit: settings, environment: {}, folder });
  await rekeyPack(config, { kind: "encrypted", key: PASSPHRASE, isFirst: false });
  expect(await look()).toEqual(["The spare key lies under the blue flower pot"]);
});

test.each([
  ["a mark apart", "Zu\u0308rich-2026-long", "Z\u00fcrich-2026-long"],
  ["a blank at its end", "open sesame ", "open sesame "],
  ["digits of full width", "pin １２３４ long", "pin １２３４ long"],
])(
  "a pack made with a passphrase of %s before such forms were one opens",
  async (_name, made, given) => {
    const path = join(folder, `${Bun.hash(made)}.pack`);
    const salt = new Uint8Array(SALT_BYTES).fill(7);
    const masterKey = await stretched(made, salt);
    beginPack(path, { masterKey }, salt);
    const settings = { ...settingsForPath(path), encryption_enabled: true };
    for (const text of [made, given]) {
      const engine = await MemoryEngine.create({ ...settings, encryption_key: text });
      expect(await engine.queryNodes({ userId: OWNER })).toEqual([]);
      await engine.close();
    }
  },
);

test.each([
  ["decomposed", "Z\u00fcrich-2026-long", "Zu\u0308rich-2026-long"],
  ["with a line feed", "Z\u00fcrich-2026-long", "passphrase:Z\u00fcrich-2026-long\n"],
  ["in full width", "pin 1234 long", "pin １２３４ long"],
])("a new pack opens with its passphrase %s", async (name, made, given) => {
  const settings = { ...settingsForPath(join(folder, `${name}.pack`)), encryption_enabled: true };
  for (const text of [made, given]) {
    const engine = await MemoryEngine.create({ ...settings, encryption_key: text });
    await engine.close();
  }
  const wrong = MemoryEngine.create({ ...settings, encryption_key: made.toUpperCase() });
  await expect(wrong).rejects.toMatchObject({ code: "encryption_failed" });
});
