import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SALT_BYTES, stretched } from "../../src/adapters/crypt/keys.ts";
import { beginPack } from "../../src/adapters/sqlite/connection/pack-files.ts";
import { MemoryEngine } from "../../src/app/memory-engine.ts";
import { settingsForPath } from "../../src/app/pack-path.ts";

const OWNER = "_cli";

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "svc-passphrase-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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
