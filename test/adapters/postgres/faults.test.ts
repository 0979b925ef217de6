import { afterAll, describe, expect, test } from "bun:test";
import { openConnection } from "../../../src/adapters/postgres/connection/open-connection.ts";
import type { Database } from "../../../src/adapters/postgres/connection/sql.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import { openPostgres } from "../../contract/postgres-place.ts";
import { anAdmission, anEvent } from "../../contract/samples.ts";
import { leftOut } from "../../left-out.ts";
import {
  databaseUrl,
  dropDatabase,
  makeDatabase,
  NO_POSTGRES,
  onServer,
} from "../../postgres/databases.ts";

const made: string[] = [];
const opened: Database[] = [];
afterAll(async () => {
  for (const database of opened) await database.close();
  for (const name of made) await dropDatabase(name);
});

async function fresh(): Promise<string> {
  const name = await makeDatabase();
  made.push(name);
  return name;
}

function connect(url: string, given: { readonly poolSize?: number; readonly ms?: number } = {}) {
  const { poolSize = 2, ms = 60_000 } = given;
  const database = openConnection({ url, poolSize, prepare: false, statementTimeoutMs: ms });
  opened.push(database);
  return database;
}

/** What opening a database ends with. */
async function outcome(url: string): Promise<unknown> {
  try {
    await (await openPostgres({ url })).close();
    return "opened";
  } catch (error) {
    return error;
  }
}

const ask = (database: Database, statement = "SELECT 1") =>
  database.read(ALL_OWNERS, (sql) => sql.all(statement));

describe.skipIf(NO_POSTGRES !== undefined)(
  `a database that cannot be used${leftOut(NO_POSTGRES)}`,
  () => {
    test("says that nothing answers under its address, without the password", async () => {
      const error = await outcome("postgres://ada:secret@127.0.0.1:9/memories");
      expect(error).toMatchObject({ code: "storage_unavailable" });
      expect(String(error)).toContain("postgres://127.0.0.1:9/memories");
      expect(String(error)).not.toContain("secret");
    });

    test("says whether the user, the password or the database is wrong", async () => {
      const withUser = (user: string, password: string): string => {
        const url = new URL(databaseUrl("postgres"));
        url.username = user;
        url.password = password;
        return url.href;
      };
      await onServer("DROP ROLE IF EXISTS guarded");
      await onServer("CREATE ROLE guarded LOGIN PASSWORD 'right'");
      expect(String(await outcome(withUser("nobody_here", "x")))).toContain("user is not known");
      expect(String(await outcome(withUser("guarded", "wrong")))).toContain("password is wrong");
      expect(String(await outcome(databaseUrl("no_such_database")))).toContain("no such database");
    });

    test("says that the user may not make the tables", async () => {
      const name = await fresh();
      await onServer("DROP ROLE IF EXISTS reader");
      await onServer("CREATE ROLE reader LOGIN");
      const url = new URL(databaseUrl(name));
      url.username = "reader";
      expect(await outcome(url.href)).toMatchObject({ code: "unsupported" });
      await onServer("CREATE EXTENSION vector", name);
      expect(String(await outcome(url.href))).toContain("may not do this");
    });

    test("is refused when a development build made its tables, and stays as it is", async () => {
      const name = await fresh();
      expect(await outcome(databaseUrl(name))).toBe("opened");
      await onServer(
        "UPDATE settings SET name = 'schema_version', value = '1' WHERE name = 'tables_version'",
        name,
      );
      const before = await onServer("SELECT * FROM settings ORDER BY name", name);
      const refused = await outcome(databaseUrl(name));
      expect(refused).toMatchObject({ code: "pack_too_old" });
      expect(String(refused)).toMatch(/svc export of .*svc import of/);
      expect(await onServer("SELECT * FROM settings ORDER BY name", name)).toEqual(before);
    });

    test("is refused when a newer program made its tables, and stays as it is", async () => {
      const name = await fresh();
      expect(await outcome(databaseUrl(name))).toBe("opened");
      await onServer("UPDATE settings SET value = '99' WHERE name = 'tables_version'", name);
      expect(await outcome(databaseUrl(name))).toMatchObject({
        code: "pack_too_new",
        data: { found: 99 },
      });
      const [version] = await onServer(
        "SELECT value FROM settings WHERE name = 'tables_version'",
        name,
      );
      expect(version).toEqual({ value: "99" });
    });

    test.each(["abc", "-1", "0", "1.5", ""])(
      "is refused when its version is %p, and stays as it is",
      async (version) => {
        const name = await fresh();
        expect(await outcome(databaseUrl(name))).toBe("opened");
        await onServer(
          `UPDATE settings SET value = '${version}' WHERE name = 'tables_version'`,
          name,
        );
        expect(await outcome(databaseUrl(name))).toMatchObject({
          code: "storage_failed",
          message: expect.stringContaining(
            `its tables have the version "${version}", which no svc has given them`,
          ),
        });
      },
    );

    test.each([
      ["nodes", "CREATE TABLE nodes (id integer)"],
      ["settings of other columns", "CREATE TABLE settings (key text)"],
      ["settings of the same columns", "CREATE TABLE settings (name text, value text)"],
    ])("says that another program has %s, and leaves them", async (_, statement) => {
      const name = await fresh();
      await onServer(statement, name);
      expect(await outcome(databaseUrl(name))).toMatchObject({
        code: "storage_failed",
        message: expect.stringContaining("has tables of another program"),
      });
      const [tables] = await onServer(
        "SELECT count(*)::int AS count FROM pg_tables WHERE schemaname = 'public'",
        name,
      );
      expect(tables).toEqual({ count: 1 });
    });

    test("says that the server lacks pgvector", async () => {
      const name = await fresh();
      // What the server offers is read from this view, here in the place of the one of the catalogue.
      await onServer("CREATE VIEW pg_available_extensions AS SELECT 'other'::name AS name", name);
      await onServer(`ALTER DATABASE ${name} SET search_path = public, pg_catalog`);
      expect(await outcome(databaseUrl(name))).toMatchObject({
        code: "unsupported",
        message: expect.stringContaining(
          "the server has no pgvector. Install pgvector 0.8 or newer on it.",
        ),
      });
    });

    test("refuses to write where the server does, and answers reads", async () => {
      const name = await fresh();
      const writer = await openPostgres({ url: databaseUrl(name) });
      const event = anEvent();
      await writer.admit(anAdmission([event]));
      await writer.close();
      const reader = await openPostgres({ url: databaseUrl(name) }, { isReadOnly: true });
      expect(await reader.event(event.id, "ada")).toEqual(event);
      await expect(reader.admit(anAdmission([anEvent()]))).rejects.toMatchObject({
        code: "pack_read_only",
      });
      await reader.close();
    });
  },
);

describe.skipIf(NO_POSTGRES !== undefined)(`a database in use${leftOut(NO_POSTGRES)}`, () => {
  test("gets its tables once, however many open it at the same time", async () => {
    const name = await fresh();
    // They have all seen that there are none.
    const all = Array.from({ length: 6 }, () => outcome(databaseUrl(name)));
    expect(await Promise.all(all)).toEqual(all.map(() => "opened"));
    const [tables] = await onServer(
      "SELECT count(*)::int FROM pg_class WHERE relname = 'nodes'",
      name,
    );
    expect(tables).toEqual({ count: 1 });
  });

  test("is brought to a newer version of the program while an older one uses it", async () => {
    const url = databaseUrl(await fresh());
    const older = await openPostgres({ url }, { softwareVersion: "1.0.0" });
    const [before, between, after] = [anEvent(), anEvent(), anEvent()];
    await older.admit(anAdmission([before]));
    const newer = await openPostgres({ url }, { softwareVersion: "2.0.0" });
    await older.admit(anAdmission([between]));
    await newer.admit(anAdmission([after]));
    for (const store of [older, newer]) {
      for (const event of [before, between, after]) {
        expect(await store.event(event.id, "ada")).toEqual(event);
      }
      expect((await store.manifest()).softwareVersion).toBe("2.0.0");
    }
    await newer.close();
    await older.close();
  });

  test("answers more calls than it has connections", async () => {
    const database = connect(databaseUrl(await fresh()), { poolSize: 2 });
    const all = Array.from({ length: 40 }, (_, place) =>
      database.snapshot(ALL_OWNERS, (sql) => sql.get<{ n: number }>("SELECT $1::int AS n", place)),
    );
    expect((await Promise.all(all)).map((row) => row?.n)).toEqual(all.map((_, place) => place));
  });

  test("ends a statement that takes too long, and goes on", async () => {
    const database = connect(databaseUrl(await fresh()), { poolSize: 1, ms: 1000 });
    await expect(ask(database, "SELECT pg_sleep(30)")).rejects.toMatchObject({
      code: "storage_busy",
      message: expect.stringContaining(
        "did not finish in time; nothing of this operation was stored",
      ),
    });
    expect(await ask(database)).toHaveLength(1);
  });

  test("reads again when its connections were cut, and loses no write that it acknowledged", async () => {
    const name = await fresh();
    const store = await openPostgres({ url: databaseUrl(name) });
    const kept = anEvent();
    await store.admit(anAdmission([kept]));
    const cut = () =>
      onServer(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`,
      );
    await cut();
    expect(await store.event(kept.id, "ada")).toEqual(kept);

    const events = Array.from({ length: 30 }, (_, place) => anEvent({ userId: `user ${place}` }));
    const writes = Promise.allSettled(events.map((event) => store.admit(anAdmission([event]))));
    await cut();
    const ends = await writes;
    for (const [place, end] of ends.entries()) {
      if (end.status === "rejected")
        expect(end.reason).toMatchObject({ code: "storage_unavailable" });
      else {
        const { id, userId } = events[place] ?? kept;
        expect(await store.event(id, userId)).toBeDefined();
      }
    }
    await store.admit(anAdmission([anEvent()]));
    await store.close();
    await expect(store.countEvents("ada")).rejects.toMatchObject({ code: "engine_closed" });
  });

  test("keeps its logs: nothing in them is changed or removed, whoever tries", async () => {
    const name = await fresh();
    const store = await openPostgres({ url: databaseUrl(name) });
    await store.admit(anAdmission([anEvent()]));
    await store.close();
    const refused = async (statement: string) =>
      await onServer(statement, name).then(
        () => "done",
        (error: { errno: string }) => error.errno,
      );
    expect(await refused("UPDATE events SET content = 'x'")).toBe("23001");
    expect(await refused("DELETE FROM events")).toBe("23001");
    expect(await refused("TRUNCATE events")).toBe("23001");
    expect(await refused("TRUNCATE operations")).toBe("23001");
  });
});
