import { afterAll, describe, expect, test } from "bun:test";
import { openConnection } from "../../../src/adapters/postgres/connection/open-connection.ts";
import type { Database } from "../../../src/adapters/postgres/connection/sql.ts";
import { ownerKey } from "../../../src/adapters/postgres/owner-key.ts";
import { ALL_OWNERS, type Owner } from "../../../src/domain/owner.ts";
import { migrateFromDatabase } from "../../../src/packs/migrate-database.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { openPostgres, stoppableDatabase } from "../../contract/postgres-place.ts";
import { anAdmission, anEvent } from "../../contract/samples.ts";
import { filePack } from "../../contract/sqlite-pack.ts";
import { leftOut } from "../../left-out.ts";
import { aRun, databaseConfig, packConfig } from "../../packs/stores.ts";
import { databaseUrl, dropDatabase, makeDatabase, NO_POSTGRES } from "../../postgres/databases.ts";
import { useFolders } from "../sqlite/folder.ts";

const { folder } = useFolders();
const made: string[] = [];
const opened: { close(): Promise<void> }[] = [];
afterAll(async () => {
  for (const one of opened) await one.close();
  for (const name of made) await dropDatabase(name);
});

async function fresh(): Promise<string> {
  const url = await stoppableDatabase();
  made.push(new URL(url).pathname.slice(1));
  return url;
}

async function open(url: string, rowSecurity?: boolean): Promise<Store> {
  const store = await openPostgres({ url }, { rowSecurity });
  opened.push(store);
  return store;
}

async function withEvents(url: string): Promise<Store> {
  const store = await open(url, true);
  for (const userId of ["ada", "bob", "cy"]) await store.admit(anAdmission([anEvent({ userId })]));
  return store;
}

/** What a client that is not `svc` is shown. @param owners whom it names */
async function shown(url: string, statement = FORGETFUL, owners = ""): Promise<unknown[]> {
  const sql = new Bun.SQL({ url, max: 1, prepare: false });
  try {
    await sql.unsafe("SELECT set_config('svc.owners', $1, false)", [owners]);
    return [...(await sql.unsafe(statement))];
  } finally {
    await sql.close();
  }
}

function connect(url: string): Database {
  const options = { url, poolSize: 2, prepare: false, statementTimeoutMs: 60_000, isWalled: true };
  const database = openConnection(options);
  opened.push(database);
  return database;
}

const FORGETFUL =
  "SELECT o.user_id AS who FROM events e JOIN owners o ON o.owner = e.owner ORDER BY who";
async function seen(database: Database, owner: Owner): Promise<unknown[]> {
  const rows = await database.read(owner, (sql) => sql.all<{ who: string }>(FORGETFUL));
  return rows.map(({ who }) => who);
}

describe.skipIf(NO_POSTGRES !== undefined)(`row-level security${leftOut(NO_POSTGRES)}`, () => {
  test("a statement that forgets its owner is shown nothing of anybody else's", async () => {
    const url = await fresh();
    await withEvents(url);
    const database = connect(url);
    expect(await seen(database, "ada")).toEqual(["ada"]);
    expect(await seen(database, ALL_OWNERS)).toEqual(["ada", "bob", "cy"]);
    const inSnapshot = await database.snapshot("bob", (sql) => sql.all(FORGETFUL));
    expect(inSnapshot).toEqual([{ who: "bob" }]);
    const inWrite = await database.write(["cy", "ada"], (sql) => sql.all(FORGETFUL));
    expect(inWrite).toEqual([{ who: "ada" }, { who: "cy" }]);
  });

  test("a transaction that names nobody is shown nothing", async () => {
    const url = await fresh();
    await withEvents(url);
    expect(await shown(url)).toEqual([]);
    expect(await shown(url, FORGETFUL, ownerKey("bob"))).toEqual([{ who: "bob" }]);
  });

  test("what has no owner is shown to a transaction that names anybody, and to no other", async () => {
    const url = await fresh();
    await withEvents(url);
    const [id, instant] = [Bun.randomUUIDv7(), "2026-01-01T00:00:00.000000Z"];
    await connect(url).writeAny(async (sql) => {
      await sql.run(
        `INSERT INTO operations (owner, id, op_type, target_id, payload, actor_id, created_at)
         VALUES (0, $1::uuid, 'FORGET_RECEIPT_ISSUED', 'forget', '{}', 'ada', $2)`,
        ...[id, instant],
      );
      await sql.run("INSERT INTO erasures VALUES (0, $1::uuid, $1::uuid, $2, 'ada')", id, instant);
    });
    const both = `SELECT 'operation' AS kind FROM operations WHERE id = '${id}'
      UNION ALL SELECT 'erasure' FROM erasures`;
    expect(await shown(url, both)).toEqual([]);
    for (const owners of [ownerKey("bob"), "all"]) {
      expect(await shown(url, both, owners)).toEqual([{ kind: "operation" }, { kind: "erasure" }]);
    }
  });

  test("a server that was open when it was turned on answers and stores as before", async () => {
    const url = await fresh();
    const [first, second, third] = [await open(url), await open(url), await open(url)];
    for (const userId of ["ada", "bob", "cy"])
      await first.admit(anAdmission([anEvent({ userId })]));
    expect(await second.countEvents("ada")).toBe(1);
    await open(url, true);
    expect(await first.countEvents("ada")).toBe(1);
    // Those that overlap share a transaction.
    await Promise.all(
      ["ada", "ada", "dora"].map((userId) => second.admit(anAdmission([anEvent({ userId })]))),
    );
    await third.admit(anAdmission([anEvent({ userId: "cy" }), anEvent({ userId: "eve" })]));
    const counts = ["ada", "bob", "cy", "dora", "eve"].map((userId) => first.countEvents(userId));
    expect(await Promise.all(counts)).toEqual([3, 1, 2, 1, 1]);
  });

  test("a statement that forgets its owner changes nothing of anybody else's", async () => {
    const url = await fresh();
    await withEvents(url);
    const database = connect(url);
    await database.write("ada", (sql) => sql.run("UPDATE work SET last_error = 'seen'"));
    const rows = await database.read(ALL_OWNERS, (sql) =>
      sql.all<{ who: string }>(
        "SELECT o.user_id AS who FROM work w JOIN owners o ON o.owner = w.owner WHERE last_error = 'seen'",
      ),
    );
    expect(rows).toEqual([{ who: "ada" }]);
    const foreign = database.write("ada", (sql) =>
      sql.run("INSERT INTO owners (owner, user_id) VALUES (7, 'dora')"),
    );
    expect(foreign).rejects.toMatchObject({ code: "storage_failed" });
  });

  test("every table with things of owners has it", async () => {
    const url = await fresh();
    await withEvents(url);
    const open = await connect(url).read(ALL_OWNERS, (sql) =>
      sql.all(
        `SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
           AND NOT (relrowsecurity AND relforcerowsecurity)`,
      ),
    );
    expect(open).toEqual([{ relname: "settings" }]);
  });

  test("a server without the setting works as the database is, and false takes it away", async () => {
    const url = await fresh();
    await withEvents(url);
    const one = await open(url);
    expect(await one.countEvents("ada")).toBe(1);
    expect(await shown(url)).toEqual([]);
    expect(await (await open(url, false)).countEvents("ada")).toBe(1);
    expect(await one.countEvents("ada")).toBe(1);
    expect(await shown(url)).toEqual([{ who: "ada" }, { who: "bob" }, { who: "cy" }]);
  });

  test("a table that is added later gets it when the database is opened next", async () => {
    const url = await fresh();
    await withEvents(url);
    const database = connect(url);
    await database.writeAny((sql) =>
      sql.run("CREATE TABLE added AS SELECT owner, user_id FROM owners"),
    );
    await open(url);
    const rows = await database.read("ada", (sql) => sql.all("SELECT user_id FROM added"));
    expect(rows).toEqual([{ user_id: "ada" }]);
  });

  test("a database behind it becomes a pack with the things of all owners", async () => {
    const url = await fresh();
    await withEvents(url);
    const pack = filePack(folder());
    const key = { kind: "plain" } as const;
    const { counts } = await migrateFromDatabase(
      databaseConfig(url),
      packConfig(pack),
      key,
      aRun(),
    );
    expect(counts.event).toBe(3);
  });

  test("it is refused to a user whom it does not stop", async () => {
    const name = await makeDatabase();
    made.push(name);
    const refused = openPostgres({ url: databaseUrl(name) }, { rowSecurity: true });
    expect(refused).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("does not stop the user svc"),
    });
  });
});
