/** A database whose tables are in partitions by hash of the owner. A real server. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ownerKey } from "../../../src/adapters/postgres/owner-key.ts";
import { openPostgres } from "../../contract/postgres-place.ts";
import { anAdmission, anEvent, freshId, put } from "../../contract/samples.ts";
import { anErasure } from "../../contract/store-erasures.ts";
import { leftOut } from "../../left-out.ts";
import {
  databaseUrl,
  dropDatabase,
  makeDatabase,
  NO_POSTGRES,
  onServer,
} from "../../postgres/databases.ts";

const PARTITIONS = 3;
const PEOPLE = Array.from({ length: 12 }, (_, place) => `person ${place}`);

describe.skipIf(NO_POSTGRES !== undefined)(`tables in partitions${leftOut(NO_POSTGRES)}`, () => {
  let name = "";
  const open = (partitions?: number) => openPostgres({ url: databaseUrl(name) }, { partitions });
  const rows = (statement: string) => onServer(statement, name);

  beforeAll(async () => {
    name = await makeDatabase();
    const store = await open(PARTITIONS);
    for (const userId of PEOPLE) await put(store, { userId });
    const [gone] = await put(store, { userId: "forgotten" });
    if (gone === undefined) throw new Error("nothing was stored");
    await store.erase(anErasure([gone], { userId: "forgotten" }));
    await store.close();
  });
  afterAll(() => dropDatabase(name));

  test("every table but the settings of the database is", async () => {
    const whole = `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND NOT relispartition
      AND relnamespace = current_schema()::regnamespace`;
    expect(await rows(whole)).toEqual([{ name: "settings" }]);
    const counts = `SELECT DISTINCT count(*)::int AS n FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent
      WHERE c.relkind = 'p' GROUP BY c.oid`;
    expect(await rows(counts)).toEqual([{ n: PARTITIONS }]);
  });

  test("every key begins with the owner", async () => {
    const others = `SELECT i.indexrelid::regclass::text AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
      WHERE i.indisunique AND c.relkind = 'p' AND a.attname <> 'owner'`;
    expect(await rows(others)).toEqual([]);
  });

  test("what belongs to one owner lies in one partition of each, and the owners in all", async () => {
    const placed = await rows(
      "SELECT o.tableoid::regclass::text AS owners, n.tableoid::regclass::text AS nodes, o.user_id FROM owners o JOIN nodes n ON n.owner = o.owner",
    );
    const places = placed.map((row) => Object(row));
    expect(new Set(places.map(({ owners }) => owners)).size).toBe(PARTITIONS);
    expect(places.filter((p) => p.nodes !== p.owners.replace("owners", "nodes"))).toEqual([]);
  });

  test("an erasure has its owner", async () => {
    const owners = await rows("SELECT DISTINCT owner FROM erasures");
    expect(owners).toEqual([{ owner: ownerKey("forgotten") }]);
  });

  test("a statement of one owner asks one partition", async () => {
    const plan = await rows(
      `EXPLAIN (COSTS OFF) SELECT 1 FROM nodes WHERE owner = ${ownerKey("person 1")}`,
    );
    expect(new Set(JSON.stringify(plan).match(/nodes_p\d/g)).size).toBe(1);
  });

  test.each(["events_p0", "operations_p1", "erasures_p2"])(
    "the partition %s cannot be emptied",
    async (partition) => {
      expect(rows(`TRUNCATE ${partition} CASCADE`)).rejects.toMatchObject({ errno: "23001" });
    },
  );

  test("another number of partitions is refused, and none named takes them as they are", async () => {
    const refused = open(PARTITIONS + 1);
    await expect(refused).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("its tables have 3 partitions"),
    });
    const store = await open();
    expect(await store.countNodes("person 1")).toBe(1);
    await store.close();
    const whole = await makeDatabase();
    const url = databaseUrl(whole);
    await (await openPostgres({ url })).close();
    await expect(openPostgres({ url }, { partitions: 2 })).rejects.toMatchObject({
      message: expect.stringContaining("its tables have no partitions"),
    });
    await dropDatabase(whole);
  });

  test("an event moves into another partition with its owner, and is not lost otherwise", async () => {
    const store = await open();
    const [event, later] = [anEvent({ userId: "ada" }), anEvent({ userId: "ada" })];
    await store.admit(anAdmission([event]));
    const move = { from: "ada", into: "ada of another partition", isJoin: false, id: freshId() };
    await store.owners.move({ ...move, settingId: freshId(), actorId: "test" });
    await store.admit(anAdmission([later]));
    expect(await store.countEvents(move.into)).toBe(1);
    await store.close();
    const partitions = `SELECT tableoid::regclass::text AS p FROM events WHERE id IN ('${event.id}', '${later.id}')`;
    expect(new Set((await rows(partitions)).map((row) => Object(row).p)).size).toBe(2);
    for (const { id } of [event, later]) {
      const loss = rows(`DELETE FROM events WHERE id = '${id}'`);
      await expect(loss).rejects.toMatchObject({ errno: "23001" });
    }
  });
});
