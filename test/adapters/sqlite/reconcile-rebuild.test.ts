import { expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import { put, unit } from "../../contract/samples.ts";
import { directoryPack } from "../../contract/sqlite-pack.ts";
import { ANYTHING } from "../../contract/store-vectors.ts";
import { useFolders } from "./folder.ts";

const { folder, open } = useFolders();
const NEXT = { model: "next", version: "2", dimension: 4 };

test("a rebuild of a directory pack that was cut off between its files is finished on opening", async () => {
  const place = folder();
  const pack = directoryPack(place);
  const old = await open(pack);
  await put(old, { content: "tea", vector: unit(1) }, { content: "coffee", vector: unit(0, 1) });
  await old.close();
  const store = await open(pack, { embedding: NEXT });
  const plan = await store.rebuild.begin(false);
  const { nodes } = await store.rebuild.stale(plan, 0, 9);
  const entries = nodes.map(({ key, node }) => ({
    key,
    vector: new Float32Array([0, 0, 0, 1]),
    contentHash: sha256Hex(node.content),
  }));
  await store.rebuild.put(plan, entries);
  await store.rebuild.end("unfinished");
  await store.close();
  // As after a crash: the database file has the commit of the swap, the vector file is the one of before.
  const before = folder();
  cpSync(place, before, { recursive: true });
  const again = await open(pack, { embedding: NEXT });
  const continued = await again.rebuild.begin(false);
  expect(await again.rebuild.swap(continued)).toBe(true);
  await again.close();
  cpSync(`${before}/vectors.index`, `${place}/vectors.index`);

  const opened = await open(pack, { embedding: NEXT });

  expect((await opened.manifest()).embedding).toEqual(NEXT);
  const hits = await opened.searchVectors(new Float32Array([0, 0, 0, 1]), ANYTHING, 9);
  expect(hits.map(({ score }) => score)).toEqual([1, 1]);
  expect(await opened.countJobs(ALL_OWNERS)).toEqual({ pending: 0, failed: 0 });
});
