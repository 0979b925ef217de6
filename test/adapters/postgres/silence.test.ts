/** Servers that say nothing, and connections that are all in use: no call waits for ever. */
import { afterAll, describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { openConnection } from "../../../src/adapters/postgres/connection/open-connection.ts";
import type { Database } from "../../../src/adapters/postgres/connection/sql.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import { openPostgres } from "../../contract/postgres-place.ts";
import { leftOut } from "../../left-out.ts";
import { cuttable, type Line } from "../../postgres/cuttable.ts";
import { databaseUrl, NO_POSTGRES, onServer } from "../../postgres/databases.ts";

const lines: Line[] = [];
const opened: Database[] = [];
afterAll(async () => {
  for (const line of lines) line.speak();
  for (const database of opened) await database.close();
  for (const line of lines) await line.cut();
});

/** A database behind a line that can become silent. */
async function connect(poolSize: number, statementTimeoutMs: number) {
  const url = new URL(databaseUrl("postgres"));
  const line = await cuttable(Number(url.port));
  lines.push(line);
  url.port = String(line.port);
  const database = openConnection({
    url: url.href,
    poolSize,
    prepare: false,
    statementTimeoutMs,
  });
  opened.push(database);
  return { line, database };
}

const ask = (database: Database, statement = "SELECT 1 AS one") =>
  database.read(ALL_OWNERS, (sql) => sql.all(statement));

const SILENT = {
  code: "storage_unavailable",
  message: expect.stringContaining("the database server gives no answer"),
};

describe.skipIf(NO_POSTGRES !== undefined)(`a database${leftOut(NO_POSTGRES)}`, () => {
  test("that falls silent fails every call, reads and writes, and answers again when it speaks", async () => {
    const { line, database } = await connect(2, 1000);
    await ask(database);
    line.silence("all");
    const ends = await Promise.allSettled([
      ask(database),
      database.snapshot(ALL_OWNERS, (sql) => sql.all("SELECT 1")),
      database.writeAny((sql) => sql.run("SELECT 1")),
      // These wait for a connection.
      ask(database),
      database.writeAny((sql) => sql.run("SELECT 1")),
    ]);
    for (const end of ends) expect(end).toMatchObject({ status: "rejected", reason: SILENT });
    await expect(ask(database)).rejects.toMatchObject(SILENT);
    line.speak();
    let answer: unknown;
    while (answer === undefined) answer = await ask(database).catch(() => undefined);
    expect(answer).toEqual([{ one: 1 }]);
  });

  test("that falls silent in the middle of a transaction undoes it when the connection ends", async () => {
    const { line, database } = await connect(2, 1000);
    await database.writeAny((sql) => sql.run("CREATE TABLE IF NOT EXISTS silence (n integer)"));
    const writing = database.writeAny(async (sql) => {
      await sql.run("INSERT INTO silence VALUES (1)");
      line.silence("all");
      await sql.run("INSERT INTO silence VALUES (2)");
    });
    await expect(writing).rejects.toMatchObject(SILENT);
    line.speak();
    let rows: unknown;
    while (rows === undefined) {
      rows = await ask(database, "SELECT n FROM silence").catch(() => undefined);
    }
    expect(rows).toEqual([]);
    await onServer("DROP TABLE silence");
  });

  test("loses the one connection that is silent, and the calls on the others go on", async () => {
    const { line, database } = await connect(2, 1000);
    let isSilent: (() => void) | undefined;
    const silenced = new Promise<void>((resolve) => {
      isSilent = resolve;
    });
    const lost = database.writeAny(async (sql) => {
      const row = await sql.get<{ port: number }>("SELECT inet_client_port() AS port");
      line.silence(row?.port ?? 0);
      isSilent?.();
      await sql.run("SELECT 1");
    });
    let isLost = false;
    const kept = database.writeAny(async (sql) => {
      await silenced;
      while (!isLost) await sql.run("SELECT pg_sleep(0.05)");
      return "kept";
    });
    await expect(lost).rejects.toMatchObject(SILENT);
    isLost = true;
    expect(await kept).toBe("kept");
    expect(await ask(database)).toEqual([{ one: 1 }]);
  });

  test("whose connections are all in use says so, and nothing waits for ever", async () => {
    const { database } = await connect(1, 300);
    let isOver = false;
    const long = database.writeAny(async (sql) => {
      while (!isOver) await sql.run("SELECT pg_sleep(0.05)");
    });
    const waiting = ask(database);
    await expect(waiting).rejects.toMatchObject({
      code: "storage_busy",
      message: expect.stringContaining(
        "all connections (1) were in use for too long; nothing of this operation was stored. Try again, or raise database_pool_size.",
      ),
    });
    isOver = true;
    await long;
    expect(await ask(database)).toEqual([{ one: 1 }]);
  });
});

test("an address at which somebody listens and says nothing is given up once, not three times", async () => {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const error = await openPostgres({ url: `postgres://svc@127.0.0.1:${port}/memories` }).then(
    () => "opened",
    (cause: unknown) => cause,
  );
  expect(error).toMatchObject({
    code: "storage_unavailable",
    message: expect.stringMatching(
      /^postgres:\/\/127\.0\.0\.1:\d+\/memories: the database server gives no answer \(for 10(\.\d)? s\)\. Try again when it runs\.$/,
    ),
  });
  server.close();
}, 120_000);
