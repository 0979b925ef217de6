import type { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readSessionWindows } from "../../../src/adapters/sql/nodes.ts";
import { openDatabase } from "../../../src/adapters/sqlite/connection/open-database.ts";
import { accessOf } from "../../../src/adapters/sqlite/connection/run.ts";
import { leanAll } from "../../../src/adapters/sqlite/vectors/write-vectors.ts";
import { rewriteDocuments } from "../../../src/adapters/sqlite/write/lexical-index.ts";
import { readTurn, surround } from "../../../src/adapters/sqlite/write/turns.ts";
import type { MemoryNode } from "../../../src/domain/node.ts";
import { type Memory, put, unit } from "../../contract/samples.ts";
import {
  directoryPack,
  filePack,
  type SqlitePack,
  storeOptions,
} from "../../contract/sqlite-pack.ts";
import { retire } from "../../contract/store-change.ts";
import { useFolders } from "./folder.ts";
import { indexed } from "./indexed.ts";
import { planning } from "./plans.ts";

const { folder, open } = useFolders();

/** Makes all documents and all leaning vectors again. */
function rebuild(database: Database): void {
  database.transaction(() => {
    rewriteDocuments(database, 0, 1e6);
    // No turn leans towards these: every vector is written again.
    database.run(
      "UPDATE vectors SET previous = -1, next = -1 WHERE node_key IN (SELECT key FROM nodes WHERE node_type = 'note' AND session_id IS NOT NULL)",
    );
    leanAll(database);
  })();
}

function connect(pack: SqlitePack): Database {
  return openDatabase({ ...storeOptions(pack), mode: "read-write" });
}

const memory: fc.Arbitrary<Memory> = fc.record({
  // Few seconds, so that several turns are of one instant.
  second: fc.integer({ min: 0, max: 6 }),
  content: fc.constantFrom("green tea", "black coffee at noon", "sushi", "the harbour place", " "),
  sessionId: fc.constantFrom("s", "s", "s", "t", undefined),
  scope: fc.constantFrom("personal", "personal", "project"),
  nodeType: fc.constantFrom("note", "note", "note", "note", "fact"),
});

const vector = fc.option(
  fc
    .array(fc.integer({ min: -9, max: 9 }), { minLength: 8, maxLength: 8 })
    .filter((numbers) => numbers.some((value) => value !== 0))
    .map((numbers) => unit(...numbers)),
  { nil: undefined, freq: 4 },
);

const conversation = fc.array(
  fc.tuple(memory, vector).map(([given, own]): Memory => {
    // As a job leaves it: blank text has no entries.
    return own === undefined || given.content === " " ? given : { ...given, vector: own };
  }),
  { minLength: 2, maxLength: 10 },
);

/** Which memories are retired together, one group after the other, by number. */
const retirements = fc.array(
  fc.tuple(
    fc.uniqueArray(fc.nat({ max: 9 }), { minLength: 1, maxLength: 6 }),
    fc.constantFrom("archived", "superseded", "deprecated"),
  ),
  { minLength: 1, maxLength: 5 },
);

describe.each([
  { name: "a pack of one file", packIn: filePack },
  { name: "a directory pack", packIn: directoryPack },
])("indexes after memories were retired: $name", ({ packIn }) => {
  test("are what a rebuild makes of those that remain, to the last bit", async () => {
    await fc.assert(
      fc.asyncProperty(conversation, retirements, async (memories, groups) => {
        const pack = packIn(folder());
        const store = await open(pack);
        const nodes = await put(store, ...memories);
        const database = connect(pack);
        const gone = new Set<MemoryNode>();
        for (const [numbers, state] of groups) {
          const retired = numbers.flatMap((number) => nodes[number] ?? []);
          const fresh = retired.filter((node) => !gone.has(node));
          for (const node of fresh) gone.add(node);
          await retire(store, state, ...fresh);
        }
        const left = indexed(database);
        rebuild(database);

        expect(left.orphans).toEqual([]);
        expect(left).toEqual(indexed(database));
        database.close();
        await store.close();
      }),
      { numRuns: 20, seed: 21 },
    );
  }, 120_000);
});

test("neighbours are looked for among active memories only", async () => {
  const pack = filePack(folder());
  const store = await open(pack);
  const sessionId = "s";
  const nodes = await put(store, { sessionId }, { sessionId, second: 1 }, { sessionId, second: 2 });
  await retire(store, "archived", nodes[0]);
  const database = connect(pack);
  const plans: string[] = [];
  const planned = planning(database, plans);

  const turn = readTurn(database, 2);
  const beside = turn && surround(planned, turn, { reach: 2 });
  const access = accessOf({
    read: async (use) => use(planned),
    write: async (use) => use(planned),
  });
  const windows = await readSessionWindows(access, "ada", [2], 2);
  database.close();

  expect(beside?.before).toEqual([]);
  expect(beside?.after.map(({ key }) => key)).toEqual([3]);
  expect(windows.get(2)?.before).toEqual([]);
  const walks = plans.filter((detail) => detail.includes("session_id=?"));
  expect(walks).toHaveLength(4);
  expect(walks.filter((detail) => !detail.includes("nodes_in_session"))).toEqual([]);
  // Those of the same instant.
  expect(plans.filter((detail) => /TEMP B-TREE(?! FOR LAST TERM)/.test(detail))).toEqual([]);
});

test("the document of one memory only is removed, however many owners a pack has", async () => {
  const pack = filePack(folder());
  const store = await open(pack);
  const database = connect(pack);
  // From here on the numbers of documents are more than a double holds exactly.
  database.run("INSERT INTO owners (owner, user_id) VALUES (1 << 14, 'ada')");
  await put(store, { content: "one" }, { content: "two" }, { content: "three" });
  database.run("UPDATE nodes SET lifecycle_state = 'archived' WHERE key = 1");
  rewriteDocuments(database, 0, 1e6);

  const { words, orphans } = indexed(database);
  database.close();

  expect(orphans).toEqual([]);
  expect(words).toMatchObject([{ term: "two" }, { term: "three" }]);
});
