import { expect, test } from "bun:test";
import { openDatabase } from "../../../src/adapters/sqlite/connection/open-database.ts";
import type { Store } from "../../../src/ports/store.ts";
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

/** Puts the tables back to how the first version of the program left them. */
function makeOld(pack: SqlitePack): void {
  const cipher = pack.encryptionKey === undefined ? undefined : { masterKey: MASTER_KEY };
  const database = openDatabase({ ...storeOptions(pack), mode: "read-write", cipher });
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
