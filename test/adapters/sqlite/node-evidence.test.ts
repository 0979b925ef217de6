import type { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { openDatabase } from "../../../src/adapters/sqlite/connection/open-database.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { aMaterialization, aNode, anAdmission, anEvent, freshId } from "../../contract/samples.ts";
import type { SqlitePack } from "../../contract/sqlite-pack.ts";
import { connectionOf, exported, imported } from "./exported.ts";
import { useFolders } from "./folder.ts";
import { BOTH_KINDS, compact } from "./whole-packs.ts";

const { folder, open } = useFolders();

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

describe.each([...BOTH_KINDS])("the list of cited events of $name", ({ at: packIn }) => {
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
