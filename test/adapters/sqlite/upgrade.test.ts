import type { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { copyFileSync, cpSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { filesOf } from "../../../src/adapters/sqlite/connection/layout.ts";
import { openDatabase } from "../../../src/adapters/sqlite/connection/open-database.ts";
import { migrate } from "../../../src/adapters/sqlite/schema/migrate.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { type Memory, put, unit } from "../../contract/samples.ts";
import {
  directoryPack,
  encrypted,
  filePack,
  MASTER_KEY,
  type SqlitePack,
  storeOptions,
} from "../../contract/sqlite-pack.ts";
import { ANYTHING, contentsOf } from "../../contract/store-vectors.ts";
import { useFolders } from "./folder.ts";

const { folder, open } = useFolders();

const MEMORIES: readonly Memory[] = [
  { content: "green tea", second: 0, sessionId: "s", vector: unit(1) },
  { content: "of bob", userId: "bob", vector: unit(1) },
  { content: "black coffee", second: 1, sessionId: "s", vector: unit(0, 1) },
  { content: "apple juice", second: 2, sessionId: "s", vector: unit(0, 0, 1) },
  { content: "a lone note", vector: unit(0, 0, 0, 1) },
];

/** Everything that a search says, with scores. */
async function picture(store: Store): Promise<unknown> {
  const answers = [];
  for (const userId of ["ada", "bob"]) {
    const filter = { ...ANYTHING, userId };
    for (const { vector } of MEMORIES) {
      answers.push(await store.searchVectors(vector ?? unit(1), filter, 9));
    }
    for (const question of ["tea", "coffee juice", "note bob"]) {
      const hits = await store.searchText(question, filter, 9);
      answers.push(hits, await contentsOf(store, hits, userId));
    }
  }
  return answers;
}

function connect(pack: SqlitePack): Database {
  const cipher = pack.encryptionKey === undefined ? undefined : { masterKey: MASTER_KEY };
  return openDatabase({ ...storeOptions(pack), mode: "read-write", cipher });
}

/** Puts the tables back to how the first version of the program left them. */
function makeOld(pack: SqlitePack): void {
  const database = connect(pack);
  database.run(`
    DROP INDEX vector_metadata_by_owner;
    ALTER TABLE vector_metadata DROP COLUMN owner;
    ALTER TABLE vector_metadata DROP COLUMN revision;
    DROP TABLE vector_revision;
    DROP TABLE vector_payloads;
    DELETE FROM schema_migrations WHERE (part = 'vectors' AND version > 2) OR (part = 'lexical' AND version > 1);
    INSERT INTO lexical_documents (lexical_documents) VALUES ('delete-all');
    INSERT INTO lexical_documents (rowid, own, previous, next) SELECT key, content, '', '' FROM nodes;`);
  const update = database.query(
    "UPDATE vectors SET embedding = ? WHERE node_key = (SELECT key FROM nodes WHERE content = ?)",
  );
  for (const { content = "", vector } of MEMORIES) update.run(vector ?? unit(1), content);
  database.close();
}

test.each([
  { name: "of one file", packIn: filePack },
  { name: "of several files", packIn: directoryPack },
  { name: "that is encrypted", packIn: (place: string) => encrypted(filePack(place)) },
])(
  "a pack $name of an earlier version answers as a new one does once it was opened",
  async ({ packIn }) => {
    const fresh = await open(packIn(folder()));
    await put(fresh, ...MEMORIES);
    const expected = await picture(fresh);
    const pack = packIn(folder());
    const store = await open(pack);
    await put(store, ...MEMORIES);
    await store.close();
    makeOld(pack);

    const upgraded = await open(pack);

    expect(await picture(upgraded)).toEqual(expected);
    await put(upgraded, { content: "late tea", second: 3, sessionId: "s", vector: unit(1, 1) });
    await put(fresh, { content: "late tea", second: 3, sessionId: "s", vector: unit(1, 1) });
    expect(await picture(upgraded)).toEqual(await picture(fresh));
  },
);

test("an upgrade tells which steps it takes, and how far those are that go through all memories", async () => {
  const pack = filePack(folder());
  const store = await open(pack);
  await put(store, ...MEMORIES);
  await store.close();
  makeOld(pack);
  const database = connect(pack);
  const told: unknown[] = [];
  const progress = {
    begin: (name: string) => {
      told.push(name);
      return (done: number, total: number) => void told.push(`${done} of ${total}`);
    },
    end: () => void told.push("end"),
  };
  const run = () =>
    migrate(database, pack.layout, storeOptions(pack), asInstant("2026-01-01T00:00:00.000000Z"), {
      progress,
    });
  database.transaction(run)();
  expect(told).toEqual([
    "changes by owner, leaning vectors",
    ...["1 of 3", "2 of 3", "3 of 3"],
    "documents by owner",
    ...["1 of 5", "2 of 5", "3 of 5", "4 of 5", "5 of 5"],
    "end",
  ]);
  told.length = 0;
  database.transaction(run)();
  expect(told).toEqual(["end"]);
  database.close();
});

// The files of a directory pack are not committed as one: a crash may leave each of them before or after an upgrade.
const MISSED: readonly { readonly lost: readonly string[] }[] = [
  { lost: ["vectors.index"] },
  { lost: ["lexical.db"] },
  { lost: ["vectors.index", "lexical.db"] },
  { lost: ["memory.db"] },
  { lost: ["memory.db", "vectors.index"] },
  { lost: ["memory.db", "lexical.db"] },
];

test.each([...MISSED])("an upgrade that did not reach $lost is made up for", async ({ lost }) => {
  const fresh = await open(directoryPack(folder()));
  await put(fresh, ...MEMORIES);
  const place = folder();
  const pack = directoryPack(place);
  const store = await open(pack);
  await put(store, ...MEMORIES);
  await store.close();
  makeOld(pack);
  const before = folder();
  cpSync(place, before, { recursive: true });
  await (await open(pack)).close();
  const missed = filesOf(pack.layout).filter((file) => lost.includes(basename(file)));
  for (const file of missed) copyFileSync(join(before, file.slice(place.length)), file);
  expect(missed).toHaveLength(lost.length);

  const again = await open(pack);

  expect(await again.countJobs(ALL_OWNERS)).toEqual({ pending: 0, failed: 0 });
  expect(await picture(again)).toEqual(await picture(fresh));
  rmSync(before, { recursive: true });
});

const LATE: Memory = { content: "late tea", second: 3, sessionId: "s", vector: unit(1, 1) };

/** Turns what was written last, and the turn before it, into what the first version writes, which knows no new columns. */
function writeAsOld(pack: SqlitePack): void {
  const database = connect(pack);
  database.run(`
    CREATE TEMP TABLE late AS SELECT key, content FROM nodes WHERE content = 'late tea';
    CREATE TEMP TABLE written AS SELECT key, owner, content FROM nodes WHERE content IN ('late tea', 'apple juice');
    DELETE FROM lexical_documents WHERE rowid IN (SELECT (n.owner << 40) | n.key FROM late JOIN nodes n USING (key));
    INSERT INTO lexical_documents (rowid, own, previous, next) SELECT key, content, '', '' FROM written;
    DELETE FROM vector_payloads WHERE node_key IN (SELECT key FROM late);
    UPDATE vector_payloads SET next = NULL WHERE next IN (SELECT key FROM late);
    INSERT OR REPLACE INTO vector_metadata (node_key, embedding_model, embedding_version, content_hash, created_at)
      SELECT node_key, embedding_model, embedding_version, content_hash, created_at FROM vector_metadata
      WHERE node_key IN (SELECT key FROM late);`);
  database
    .query("UPDATE vectors SET embedding = ? WHERE node_key = (SELECT key FROM late)")
    .run(LATE.vector ?? unit(1));
  database.close();
}

test.each([
  { name: "of one file", packIn: filePack },
  { name: "of several files", packIn: directoryPack },
])(
  "what a process of an earlier version wrote into an upgraded pack $name is found once it is opened again",
  async ({ packIn }) => {
    const fresh = await open(packIn(folder()));
    await put(fresh, ...MEMORIES);
    await put(fresh, LATE);
    const pack = packIn(folder());
    const store = await open(pack);
    await put(store, ...MEMORIES);
    await put(store, LATE);
    const before = await picture(store);
    writeAsOld(pack);
    expect(await picture(store)).not.toEqual(before);

    await open(pack);

    expect(await picture(store)).toEqual(await picture(fresh));
  },
);
