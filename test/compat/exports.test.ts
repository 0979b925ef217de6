import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEngine } from "../../src/app/open-engine.ts";
import { settingsForPath } from "../../src/app/pack-path.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { Config } from "../../src/config/schema.ts";
import { sha256Hex } from "../../src/lib/hashing.ts";
import { importPack } from "../../src/packs/import-pack.ts";
import { reportOnFading, reportOnPack } from "../../src/packs/inspect-pack.ts";
import { REAL_MODEL } from "../engine/engines.ts";

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "svc-exports-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function taken(name: string, file = join(import.meta.dir, `exports/${name}.jsonl`)) {
  const settings = { ...settingsForPath(join(folder, `${name}.pack`)), encryption_enabled: false };
  const { config } = loadConfig({ explicit: settings, environment: {}, folder });
  const report = await importPack(
    config,
    { kind: "plain" },
    {
      file,
      signal: new AbortController().signal,
      onProgress: () => {},
    },
  );
  expect(await reportOnPack(config, true)).toMatchObject({ damage: [], damagedReceipts: [] });
  return { config, report };
}

const open = (config: Config) => openEngine(config, { makeEmbedder: async () => REAL_MODEL });

test("an export of a development build is imported but for its receipts, and what had faded is offered back", async () => {
  const { config, report } = await taken("development");
  expect(report).toMatchObject({
    counts: { event: 5, operation: 11, node: 4, erasure: 2, blob: 1, receipt: 0 },
    formerReceipts: 2,
    missingPictures: [],
  });
  expect(await reportOnFading(config)).toMatchObject({ restorable: 3 });
  const engine = await open(config);
  const found = async () =>
    (await engine.retrieve({ userId: "ada", query: "what was for lunch?" })).results.map(
      ({ node }) => node.content,
    );
  expect(await found()).not.toContain("Lunch was soup");
  await engine.restoreFaded({ userId: "ada" });
  expect(await found()).toContain("Lunch was soup");
  await engine.close();
});

test("an owner of a development build gets the one form of the name", async () => {
  const lines = readFileSync(join(import.meta.dir, "exports/development.jsonl"), "utf8").split(
    "\n",
  );
  const body = `${lines.slice(0, -2).join("\n").replaceAll('"ada"', '"jose\u0301"')}\n`;
  const footer = { ...JSON.parse(lines.at(-2)!), sha256: sha256Hex(body) };
  const file = join(folder, "named.jsonl");
  writeFileSync(file, `${body}${JSON.stringify(footer)}\n`);
  const { config } = await taken("named", file);
  const engine = await open(config);
  expect(await engine.listOwners()).toMatchObject([{ userId: "josé", memories: 4 }]);
  expect(await engine.queryNodes({ userId: "jose\u0301" })).not.toHaveLength(0);
  await engine.close();
});

test("an export of format 1 is imported with its receipts and what they showed", async () => {
  const { config, report } = await taken("1");
  expect(report).toMatchObject({ counts: { event: 7, node: 6, receipt: 1 }, formerReceipts: 0 });
  const engine = await open(config);
  const { retrievals } = await engine.listRetrievals({ userId: "anna" });
  const kept = await engine.getRetrievalReceipt(retrievals[0]!.requestId, "anna");
  const [first] = kept?.receipt.candidates ?? [];
  const uses = await engine.nodeRetrievals(first!.nodeId, { userId: "anna" });
  expect(uses?.retrievals).toMatchObject([{ requestId: retrievals[0]!.requestId, rank: 1 }]);
  await engine.close();
});
