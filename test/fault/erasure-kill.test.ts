/**
 * Kills a process with SIGKILL before statements of a forgetting and of what removes its bytes, each time on a fresh copy of a
 * pack: the forgetting has happened or not, and the next opening removes what is left of it.
 */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../src/adapters/sqlite/connection/open-database.ts";
import { connectionOf } from "../adapters/sqlite/exported.ts";
import { indexed } from "../adapters/sqlite/indexed.ts";
import { anAdmission, freshId, put, unit } from "../contract/samples.ts";
import {
  directoryPack,
  encrypted,
  filePack,
  openSqlitePack,
  type SqlitePack,
} from "../contract/sqlite-pack.ts";
import { aBlob } from "../contract/store-blobs.ts";
import { aReceipt } from "../contract/store-receipts.ts";
import { killedAt, useKilling } from "./statement-kills.ts";

/** Turns of one conversation, one of which is forgotten. */
const TURNS = ["alpha", "bravo", "the vault opens with marmalade", "delta", "echo"];
const MARK = "marmalade";

const killing = useKilling("erasure-worker.ts");

async function makePack(pack: SqlitePack): Promise<void> {
  const store = await openSqlitePack(pack);
  const made = await put(
    store,
    ...TURNS.map((content, second) => ({
      ...{ content, second, sessionId: "s" },
      vector: unit(...TURNS.map((turn) => (turn === content ? 1 : 0))),
    })),
  );
  // Larger than a page.
  const bytes = new TextEncoder().encode(MARK.repeat(2000));
  const event = made[TURNS.findIndex((turn) => turn.includes(MARK))]?.evidenceRefs[0] ?? freshId();
  await store.admit(anAdmission([], { blobs: [aBlob({ event, bytes })] }));
  await store.saveReceipt(aReceipt({ body: new TextEncoder().encode(`where is ${MARK}?`) }));
  await store.close();
}

/** What a pack holds, after an opening has settled what was not. */
async function examine(pack: SqlitePack, place: string) {
  const store = await openSqlitePack(pack);
  const settled = await store.settleErasures(5000);
  const scan = await store.scan([MARK], "ada");
  await store.close();
  const database = openDatabase({ layout: pack.layout, mode: "read-write", ...connectionOf(pack) });
  const rows = (sql: string): unknown => database.query(sql).all();
  const found = {
    ...{ settled, marks: scan?.pages?.found, indexes: indexed(database) },
    receipts: rows("SELECT request_id FROM receipts"),
    events: rows("SELECT key, content, metadata IS NULL AS is_whole FROM events ORDER BY key"),
    nodes: rows("SELECT key, content, lifecycle_state FROM nodes ORDER BY key"),
    operations: rows("SELECT op_type FROM operations ORDER BY key"),
    erasures: rows("SELECT count(*) AS n FROM erasures"),
    blobs: rows("SELECT size FROM blobs CROSS JOIN blob_uses"),
  };
  database.close();
  const isInFiles = readdirSync(place, { recursive: true, encoding: "utf8" })
    .map((name) => join(place, name))
    .some((name) => statSync(name).isFile() && readFileSync(name).includes(MARK));
  return { ...found, isInFiles };
}

describe("a crash at each step of a forgetting", () => {
  test.each([
    { name: "a pack of one file", packIn: filePack, most: 25 },
    { name: "a directory pack", packIn: directoryPack, most: 12 },
    { name: "an encrypted pack", packIn: (at: string) => encrypted(filePack(at)), most: 8 },
  ])(
    "in $name leaves all of it or nothing, and no byte after the next opening",
    async ({ name, packIn, most }) => {
      await makePack(packIn(killing.place(name)));
      const copied = (title: string): readonly [SqlitePack, string] => {
        const place = killing.copy(name, `${name} ${title}`);
        return [packIn(place), place];
      };
      const before = await examine(...copied("as it was"));
      expect(before).toMatchObject({ marks: [0], erasures: [{ n: 0 }], blobs: [{ size: 18_000 }] });
      const [finished, place] = copied("finished");
      const steps = await killing.finish(finished);
      const after = await examine(finished, place);
      expect(after).toMatchObject({
        ...{ marks: [], isInFiles: false, receipts: [], erasures: [{ n: 2 }] },
        operations: [{ op_type: "MEMORY_FORGOTTEN" }],
        blobs: [],
      });
      expect(after.nodes).toHaveLength(TURNS.length - 1);

      let isDone = false;
      for (const step of killedAt(steps, most)) {
        const [pack, at] = copied(`killed at ${step}`);
        await killing.killAt(step, pack);
        const left = await examine(pack, at);
        // Once the transaction is committed, it stays.
        isDone ||= left.marks?.length === 0;
        expect({ step, ...left }).toEqual({ step, ...(isDone ? after : before) });
      }
      expect(isDone).toBe(true);
    },
    300_000,
  );
});
