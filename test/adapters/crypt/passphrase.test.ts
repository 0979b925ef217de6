import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryEngine } from "../../../src/app/memory-engine.ts";
import { settingsForPath } from "../../../src/app/pack-path.ts";

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "svc-passphrase-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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
