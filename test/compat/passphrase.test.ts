import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
