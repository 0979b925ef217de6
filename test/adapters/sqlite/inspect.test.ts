import { describe, expect, test } from "bun:test";
import { cpSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mainPath } from "../../../src/adapters/sqlite/connection/layout.ts";
import { openDatabase } from "../../../src/adapters/sqlite/connection/open-database.ts";
import { inspectPack } from "../../../src/adapters/sqlite/read/inspect.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import {
  aMaterialization,
  aNode,
  anAdmission,
  anEvent,
  at,
  put,
  unit,
} from "../../contract/samples.ts";
import {
  directoryPack,
  filePack,
  type SqlitePack,
  storeOptions,
} from "../../contract/sqlite-pack.ts";
import { aReceipt } from "../../contract/store-receipts.ts";
import { bytesBelow, failure, useFolders } from "./folder.ts";

const { folder, open } = useFolders();

function look(pack: SqlitePack, checkIntegrity = false) {
  return inspectPack({ layout: pack.layout, checkIntegrity });
}

/** Does to a pack what no store does. */
function alter(pack: SqlitePack, sql: string): void {
  const database = openDatabase({ ...storeOptions(pack), mode: "read-write", cipher: undefined });
  database.run(sql);
  database.close();
}

describe.each([
  { name: "one file", packIn: filePack },
  { name: "a directory", packIn: directoryPack },
])("the inspection of a pack of $name", ({ packIn }) => {
  test("counts what is in it, changes nothing and leaves nothing behind", async () => {
    const place = folder();
    const pack = packIn(place);
    const store = await open(pack);
    await put(
      store,
      { content: "green tea", vector: unit(1), second: 5 },
      { content: "of bob", vector: unit(1), userId: "bob" },
      { content: "inactive", lifecycleState: "archived" },
    );
    const failing = anEvent({ timestamp: at(1) });
    await store.admit(anAdmission([failing, anEvent()]));
    await store.failJobs([failing.id], "model_failed", at(2));
    const claim = await store.takeWork({ kind: "expire", owner: ALL_OWNERS }, false);
    if (typeof claim !== "object") throw new Error("it was not free");
    await store.finishWork(claim, { failure: "storage_failed", cooldownSeconds: 0 });
    const manifest = await store.manifest();
    await store.close();
    const before = bytesBelow(place);

    const found = look(pack, true);

    expect(found).toMatchObject({
      manifest,
      nodeCount: 3,
      activeCount: 2,
      edgeCount: 0,
      eventCount: 5,
      ownerCount: 2,
      vectorCount: 2,
      lexicalCount: 2,
      withoutVector: 0,
      withoutLexical: 0,
      pendingJobs: 2,
      failedJobs: 1,
      failingWork: [{ kind: "expire", attempts: 1, lastError: "storage_failed" }],
      lastModified: at(5),
      damage: [],
    });
    expect(bytesBelow(place)).toEqual(before);
  });

  test("sees what another user of the pack has just written", async () => {
    const pack = packIn(folder());
    const store = await open(pack);
    await put(store, { content: "green tea", vector: unit(1) });

    expect(look(pack)).toMatchObject({ nodeCount: 1, vectorCount: 1, damage: undefined });
    await put(store, { content: "black tea", vector: unit(1) });
    expect(look(pack)).toMatchObject({ nodeCount: 2, vectorCount: 2 });
  });

  test("misses entries that no job will bring, blank texts aside", async () => {
    const pack = packIn(folder());
    const store = await open(pack);
    const [lost, blank, tabbed] = ["green tea", "   ", "\n\t\u00a0"].map((content) =>
      anEvent({ content }),
    );
    if (lost === undefined || blank === undefined || tabbed === undefined) throw new Error();
    await store.admit(anAdmission([lost, blank, tabbed]));
    await store.materialize(
      [lost, blank, tabbed].map((event) =>
        aMaterialization(event, aNode(event), { lexical: false }),
      ),
    );

    expect(look(pack)).toMatchObject({ withoutVector: 1, withoutLexical: 1, pendingJobs: 0 });
  });

  test.each([
    {
      name: "a vector that is gone from the index",
      sql: "DELETE FROM vectors WHERE node_key = (SELECT min(key) FROM nodes)",
      found: { withoutVector: 1, withoutLexical: 0 },
    },
    {
      name: "the own vector of a turn that is gone",
      sql: "UPDATE vectors SET revision = NULL WHERE node_key = (SELECT min(key) FROM nodes)",
      found: { withoutVector: 1, withoutLexical: 0 },
    },
    {
      name: "a vector that names no owner",
      sql: "UPDATE vectors SET owner = 0 WHERE node_key = (SELECT min(key) FROM nodes)",
      found: { withoutVector: 1, withoutLexical: 0 },
    },
    {
      name: "a document under the number of its node alone",
      sql: `DELETE FROM lexical_documents WHERE rowid = (1 << 40) | 1;
        INSERT INTO lexical_documents (rowid, own, previous, next) VALUES (1, 'green tea', '', '')`,
      found: { withoutVector: 0, withoutLexical: 1 },
    },
  ])("misses $name", async ({ sql, found }) => {
    const pack = packIn(folder());
    const store = await open(pack);
    const memories = ["green tea", "black tea"].map((content, second) => {
      return { content, second, sessionId: "s", vector: unit(1) };
    });
    await put(store, ...memories, { content: "a fact", nodeType: "fact", vector: unit(1) });
    expect(look(pack)).toMatchObject({ withoutVector: 0, withoutLexical: 0 });

    alter(pack, sql);

    expect(look(pack)).toMatchObject(found);
  });

  test("names the receipts that cannot be read any more", async () => {
    const pack = packIn(folder());
    const store = await open(pack);
    const long = aReceipt({ body: new TextEncoder().encode("tea ".repeat(500)) });
    const short = aReceipt({ body: new TextEncoder().encode("tea") });
    for (const receipt of [long, short, aReceipt()]) await store.saveReceipt(receipt);
    const isReceiptWhole = (body: Uint8Array): boolean => body.length > 10 || body.length === 3;
    const damaged = () =>
      inspectPack({
        layout: pack.layout,
        checkIntegrity: true,
        isReceiptWhole,
      }).damagedReceipts;
    expect(damaged()).toEqual([]);
    expect(look(pack).damagedReceipts).toBeUndefined();

    alter(
      pack,
      "DROP TRIGGER receipts_never_change; UPDATE receipts SET body = substr(body, 1, 12); UPDATE receipts SET body = substr(body, 1, 2) WHERE key = 2",
    );

    expect(damaged()).toEqual([short.requestId]);
    expect(look(pack, true)).toMatchObject({ damage: [], damagedReceipts: [] });
  });

  test("tells of damage", async () => {
    const place = folder();
    const pack = packIn(place);
    const store = await open(pack);
    await put(store, ...Array.from({ length: 200 }, () => ({ content: "word ".repeat(200) })));
    await store.close();
    const path = mainPath(pack.layout);
    truncateSync(path, Bun.file(path).size - 5 * 8192);

    const outcome = (() => {
      try {
        return (look(pack, true).damage ?? []).length > 0 ? "damage" : "sound";
      } catch (error) {
        // SAFETY: compared by value; another error fails the comparison.
        return (error as { code: string }).code;
      }
    })();

    expect(["damage", "pack_damaged"]).toContain(outcome);
  });

  test("refuses what is no pack", async () => {
    const place = folder();
    const pack = packIn(place);
    writeFileSync(mainPath(pack.layout), "text ".repeat(50));
    const before = bytesBelow(place);

    expect(await failure((async () => look(pack))())).toMatchObject({ code: "not_a_pack" });
    expect(bytesBelow(place)).toEqual(before);
  });
});

test("a directory pack of which a file was lost is told apart from a sound one", async () => {
  const place = folder();
  const pack = directoryPack(place);
  const store = await open(pack);
  await put(store, { content: "green tea", vector: unit(1) });
  await store.close();
  for (const name of ["vectors.index", "lexical_index/lexical.db"]) {
    const copy = folder();
    cpSync(place, copy, { recursive: true });
    const file = join(copy, name);
    rmSync(file);
    const before = bytesBelow(copy);

    const refusal = await failure((async () => look(directoryPack(copy)))());

    expect(refusal.code).toBe("storage_failed");
    expect(refusal.message).toContain(`${file} is missing`);
    expect(refusal.message).toContain(`svc rebuild ${join(copy, "memory.db")}`);
    expect(bytesBelow(copy)).toEqual(before);
  }
});
