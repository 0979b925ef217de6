import { describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { readReceipts } from "../../../src/adapters/sql/receipts.ts";
import { mainPath } from "../../../src/adapters/sqlite/connection/layout.ts";
import { openDatabase } from "../../../src/adapters/sqlite/connection/open-database.ts";
import { run } from "../../../src/adapters/sqlite/connection/run.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { at, freshId } from "../../contract/samples.ts";
import { filePack, type SqlitePack } from "../../contract/sqlite-pack.ts";
import { aReceipt } from "../../contract/store-receipts.ts";
import { connectionOf } from "./exported.ts";
import { useFolders } from "./folder.ts";
import { planning } from "./plans.ts";
import { BOTH_KINDS } from "./whole-packs.ts";

const { folder, open } = useFolders();

/** A body of 16 KB as a question with 50 candidates makes it: ids, hashes, numbers that look random. */
function usualBody(serial: number): Uint8Array {
  const candidates = Array.from({ length: 50 }, (_, i) => {
    const hash = sha256Hex(`${serial}-${i}`);
    const numbers = Array.from(
      { length: 6 },
      (_, n) => Number(`0x${hash.slice(n, n + 13)}`) / 2 ** 52,
    );
    return [
      `0190a000-0000-7000-8000-${hash.slice(0, 12)}`,
      hash,
      ...numbers,
      i,
      null,
      1,
      1,
      0.9,
      "full",
      true,
    ];
  });
  return new TextEncoder().encode(JSON.stringify({ query: "where is it?", candidates }));
}

async function saveMany(store: Store, from: number, count: number): Promise<void> {
  for (let second = from; second < from + count; second += 1) {
    await store.saveReceipt(aReceipt({ body: usualBody(second), createdAt: at(second) }));
  }
}

/** Bytes of the main file of a pack whose log was moved into it. */
function sizeOf(pack: SqlitePack): number {
  const database = openDatabase({ ...connectionOf(pack), layout: pack.layout, mode: "read-write" });
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  return statSync(mainPath(pack.layout)).size;
}

const LATER = { before: { at: at(9), id: freshId() } };

test.each([
  ["the first page", {}],
  ["a later page", LATER],
  ["a later page of a time", { ...LATER, timeFrom: at(1), timeTo: at(20) }],
])("%s of an owner's receipts begins in the index where it begins", async (_, page) => {
  const pack = filePack(folder());
  await open(pack);
  const database = openDatabase({ ...connectionOf(pack), layout: pack.layout, mode: "read-write" });
  const plans: string[] = [];

  run(planning(database, plans), readReceipts({ userId: "ada", limit: 2, ...page }));
  database.close();

  expect(plans).toEqual([
    "SEARCH r USING INDEX receipts_by_owner (user_id=? AND created_at>? AND (created_at,request_id)<(?,?))",
  ]);
});

describe.each([...BOTH_KINDS])("receipts in $name", ({ at: packAt }) => {
  test("have their room used again", async () => {
    const pack = packAt(folder());
    const store = await open(pack, { shareEncrypted: true });
    await saveMany(store, 0, 100);
    const full = sizeOf(pack);

    expect(await store.pruneReceipts(at(60), 1000)).toBe(60);
    await saveMany(store, 200, 50);
    expect(sizeOf(pack) - full).toBeLessThan(10 * 8192);
  });
});
