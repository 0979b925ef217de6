/** What an event names, through the engine: kept with it, counted, copied and forgotten. */

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mainPath } from "../../../src/adapters/sqlite/connection/layout.ts";
import { CONFIG_SCHEMA } from "../../../src/config/schema.ts";
import { checkPictures } from "../../../src/doctor/checks.ts";
import { createStoreSteps } from "../../../src/engine/lifecycle/after-store.ts";
import { ingest } from "../../../src/engine/write/ingest.ts";
import { store } from "../../../src/engine/write/store.ts";
import { reportOnPack } from "../../../src/packs/inspect-pack.ts";
import { compactPack } from "../../../src/packs/maintenance.ts";
import { type OpenedEngine, useEngines, wordEmbedder } from "../engines.ts";

const { open } = useEngines();

const KEY = "frames/0a.jpg";
const BYTES = new TextEncoder().encode("marmalade".repeat(3000));
const PICTURE = { key: KEY, mediaType: "image/jpeg", bytes: BYTES };
const SEEN = { userId: "ada", content: "A red boat lies in the harbour.", role: "tool" } as const;

const opened = () => open({ embedder: wordEmbedder() });
const storing = ({ deps }: OpenedEngine) => ({ ...deps, steps: createStoreSteps(deps) });

test("a store keeps it with its event, and a retry keeps nothing twice", async () => {
  const all = await opened();
  const requestId = crypto.randomUUID();
  const first = await store(storing(all), { ...SEEN, requestId }, { blobs: [PICTURE] });
  const again = await store(
    storing(all),
    { ...SEEN, requestId },
    { blobs: [{ ...PICTURE, key: "b" }] },
  );
  expect(again.eventId).toBe(first.eventId);
  expect(await all.engine.getBlob(KEY, { userId: "ada" })).toEqual(BYTES);
  expect(await all.engine.readBlob(KEY, { userId: "ada" })).toEqual(PICTURE);
  expect((await all.engine.stats("ada")).details?.blobs).toEqual({ count: 1, bytes: 27_000 });
});

test("one that is too large is refused by name, and nothing is stored", async () => {
  const all = await open({ embedder: wordEmbedder(), settings: { blobMaxBytes: 26_999 } });
  const message = "blobs[0].bytes: has 27000 bytes, at most 26999 (setting blob_max_bytes)";
  for (const refused of [
    store(storing(all), SEEN, { blobs: [PICTURE] }),
    ingest({ ...storing(all), extractions: undefined }, SEEN, { blobs: [PICTURE] }),
  ]) {
    expect(refused).rejects.toMatchObject({ code: "invalid_argument", message });
    await refused.catch(() => {});
  }
  expect(await all.engine.stats("ada")).toMatchObject({ nodeCount: 0, eventCount: 0 });
});

test.each([true, false])(
  "an ingest keeps it with its event, extracted later: %p",
  async (isLater) => {
    const all = await opened();
    const extractions = { queued: () => {}, soon: () => {}, waitFor: async () => {} };
    const deps = { ...storing(all), extractions: isLater ? extractions : undefined };
    const eventId = await ingest(deps, SEEN, { blobs: [PICTURE] });
    expect(await all.engine.getBlob(KEY, { userId: "ada" })).toEqual(BYTES);
    expect((await all.engine.getEvent(eventId, "ada"))?.content).toBe(SEEN.content);
  },
);

test("forgetting the event erases it, and the receipt counts it", async () => {
  const all = await opened();
  const { nodeId } = await store(storing(all), SEEN, { blobs: [PICTURE] });
  const ids = [nodeId];
  const preview = await all.engine.forget({ userId: "ada", ids });
  expect(preview.counts.blobs).toBe(1);
  const { confirm } = preview;
  const { receipt, stage } = await all.engine.forget({
    userId: "ada",
    ids,
    mode: "erase",
    confirm,
  });
  expect([stage, receipt]).toMatchObject(["physical", { erased: { blobs: 1 } }]);
  expect(await all.engine.getBlob(KEY, { userId: "ada" })).toBeNull();
  expect((await all.engine.verifyForgetting(receipt)).ok).toBe(true);
  expect((await all.engine.verifyForgetting(receipt, "marmalade")).checks.at(-1)).toMatchObject({
    name: "scan",
    ok: true,
  });
  const [known] = await all.engine.listForgettings("ada");
  expect(known?.counts.blobs).toBe(1);
});

test("it is in the report of the pack, survives compact, and one without an event is told of", async () => {
  const all = await opened();
  await store(storing(all), SEEN, { blobs: [PICTURE] });
  await all.engine.close();
  const path = mainPath(all.pack.layout);
  const config = CONFIG_SCHEMA.parse({ pack_path: path });
  await compactPack(config);
  const report = await reportOnPack(config, true);
  expect(report.blobs).toEqual({ count: 1, bytes: 27_000, stray: 0 });
  expect(checkPictures(report)).toEqual([
    {
      name: "pictures",
      status: "ok",
      message: "1 with 27000 bytes, each of an event of its owner",
    },
  ]);
  const database = new Database(path);
  database.run(
    "INSERT INTO blobs SELECT owner, 'b', media_type, size, data, created_at FROM blobs",
  );
  database.run("INSERT INTO blob_uses SELECT event, 'c' FROM blob_uses");
  database.close();
  const [finding] = checkPictures(await reportOnPack(config, true));
  expect(finding?.status).toBe("warn");
  expect(finding?.message).toStartWith("2 with 54000 bytes; 2 without an event");
  const { engine } = await open({ pack: all.pack, embedder: wordEmbedder() });
  expect(await engine.getBlob(KEY, { userId: "ada" })).toEqual(BYTES);
});
