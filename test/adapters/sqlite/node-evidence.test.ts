import type { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { loadSqliteVec } from "../../../src/adapters/native/load-library.ts";
import { openDatabase } from "../../../src/adapters/sqlite/connection/open-database.ts";
import { migrateDirectory } from "../../../src/adapters/sqlite/copy/migrate-directory.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import {
  aMaterialization,
  aNode,
  anAdmission,
  anEvent,
  at,
  freshId,
} from "../../contract/samples.ts";
import { directoryPack, filePack, type SqlitePack } from "../../contract/sqlite-pack.ts";
import { connectionOf, exported, imported } from "./exported.ts";
import { useFolders } from "./folder.ts";
import { cipherOf, compact, KINDS } from "./whole-packs.ts";

const { folder, open } = useFolders();

const fileAt = (path: string): SqlitePack => ({ layout: { kind: "file", path } });

function look<T>(pack: SqlitePack, use: (database: Database) => T): T {
  const { layout } = pack;
  const database = openDatabase({ ...connectionOf(pack), layout, mode: "read-write" });
  try {
    return use(database);
  } finally {
    database.close();
  }
}

/** Which node cites which event: as the pack lists it, and as its nodes say. */
const pairs = (pack: SqlitePack) =>
  look(pack, (database) => ({
    listed: database
      .query("SELECT event, node FROM node_evidence ORDER BY event, node")
      .values() as unknown[],
    said: database
      .query(
        `SELECT DISTINCT e.key, n.key FROM nodes n, json_each(n.evidence_refs) r, events e
         WHERE e.id = r.value ORDER BY e.key, n.key`,
      )
      .values() as unknown[],
  }));

/** Nodes that cite one, two, no and unknown events, one of them an event of somebody else. */
async function fill(store: Store): Promise<void> {
  const events = [0, 1, 2, 3, 4].map((i) => anEvent({ userId: i === 4 ? "bob" : "ada" }));
  await store.admit(anAdmission(events));
  const [a, b, c] = events.map(({ id }) => id);
  const cited = [[a], [a, b, a], [], [freshId(), c], [a, b]];
  const items = events.map((event, i) =>
    aMaterialization(
      event,
      aNode(event, { evidenceRefs: (cited[i] ?? []).flatMap((id) => id ?? []) }),
    ),
  );
  await store.materialize(items);
}
const PAIRS = 6;

describe.each([...KINDS])("the list of cited events of $name", ({ at: packIn }) => {
  test("says what the nodes say", async () => {
    const pack = packIn(folder());
    await fill(await open(pack));

    const { listed, said } = pairs(pack);

    expect(listed).toHaveLength(PAIRS);
    expect(listed).toEqual(said);
  });

  test("is the same after compaction and after export and import", async () => {
    const pack = packIn(folder());
    const store = await open(pack);
    await fill(store);
    await store.close();
    const before = pairs(pack);
    const text = exported(pack);
    const copy = packIn(folder());

    await compact(pack);
    await imported(copy, text);

    expect(text).not.toContain("node_evidence");
    expect(pairs(pack)).toEqual(before);
    expect(pairs(copy)).toEqual(before);
    expect(exported(copy).split("\n").slice(1, -2)).toEqual(text.split("\n").slice(1, -2));
  });
});

test("a directory gives its list of cited events to a single file", async () => {
  const place = folder();
  const pack = directoryPack(join(place, "directory"));
  const store = await open(pack);
  await fill(store);
  await store.close();
  const before = pairs(pack);
  const destination = join(place, "new.pack");
  const { layout } = pack;
  if (layout.kind !== "directory") throw new Error("not a directory");

  await migrateDirectory({
    layout,
    destination,
    cipher: cipherOf(pack),
    destinationKey: undefined,
    vecExtensionPath: loadSqliteVec(),
    now: at(9),
  });

  const made = fileAt(destination);
  expect(before.listed).toHaveLength(PAIRS);
  expect(pairs(made)).toEqual(before);
  await fill(await open(made));
  const { listed, said } = pairs(made);
  expect(listed).toHaveLength(2 * PAIRS);
  expect(listed).toEqual(said);
});

test("a pack with such a list is sound", async () => {
  const pack = filePack(folder());
  await fill(await open(pack));
  look(pack, (database) => {
    expect(database.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
    expect(database.query("PRAGMA foreign_key_check").values()).toEqual([]);
  });
});
