/**
 * A database server that is restarted, crashes or loses single processes while clients write and ask. Calls fail with 503 and
 * Retry-After and go on by themselves; what was acknowledged is there, and what was repeated under one key is there once.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endAllServers, launchServer, type ServerProcess } from "../../scripts/bench/server.ts";
import { type PostgresServer, startPostgres } from "../../scripts/check/postgres.ts";
import { leftOut } from "../left-out.ts";
import { NO_POSTGRES } from "../postgres/databases.ts";

setDefaultTimeout(240_000);

const CLIENTS = 4;
/** Tries that a client has, a second apart, once the database is back: calls go on within five seconds. */
const TRIES_AFTER = 5;

const folder = mkdtempSync(join(tmpdir(), "svc-restart-"));
let database: PostgresServer | undefined;
let server: ServerProcess | undefined;

beforeAll(async () => {
  if (NO_POSTGRES !== undefined) return;
  // What is committed must outlive the processes of the server.
  const started = await startPostgres(join(import.meta.dir, "../.."), tmpdir(), true);
  if (typeof started === "string") throw new Error(started);
  database = started;
  server = await launchServer({
    pack: join(folder, "server"),
    args: ["serve", "--port", "0", "--log-level", "warn"],
    environment: { SVC_DATABASE_URL: started.url },
  }).listening;
});
afterAll(async () => {
  await endAllServers();
  await database?.stop();
  rmSync(folder, { recursive: true, force: true });
});

type Tally = {
  /** Texts that were acknowledged, each under its own key or without one. */
  readonly acknowledged: Set<string>;
  /** Texts that were sent once, of which nobody knows whether they were stored. */
  readonly unknown: Set<string>;
  /** What no call may answer. */
  readonly complaints: string[];
  refused: number;
  /** Tries of the most unlucky client after the database was back. */
  mostTries: number;
};

/** Whether what was sent is safe: an answer may say so of a message that is not indexed yet. A refusal must say that it passes. */
async function settled(answer: Response, tally: Tally): Promise<boolean> {
  const body = await answer.text();
  if (answer.ok) return true;
  tally.refused += 1;
  if (answer.status === 503 && body.includes('"accepted":true')) return true;
  const isRight =
    answer.status === 503 &&
    answer.headers.get("retry-after") === "1" &&
    body.includes('"code":"storage_unavailable"');
  if (!isRight) tally.complaints.push(`${answer.status} ${body}`);
  return false;
}

function send(path: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  return fetch(`${server?.url}/v1/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

/** Clients that write and ask while something happens to the database, until each has succeeded after it. */
async function load(
  name: string,
  happening: (tally: Readonly<Tally>) => Promise<void>,
): Promise<Tally> {
  const tally: Tally = {
    ...{ acknowledged: new Set(), unknown: new Set(), complaints: [] },
    ...{ refused: 0, mostTries: 0 },
  };
  let isBack = false;
  const untilStored = async (content: string, userId: string): Promise<void> => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    let tries = 0;
    const item = { items: [{ content }], user_id: userId };
    while (!(await settled(await send("ingest/fast", item, headers), tally))) {
      if (isBack) tries += 1;
      if (tries > TRIES_AFTER) throw new Error(`the database is back: ${tally.complaints[0]}`);
      await Bun.sleep(1000);
    }
    tally.mostTries = Math.max(tally.mostTries, tries);
    tally.acknowledged.add(content);
  };
  const client = async (index: number): Promise<void> => {
    const userId = `${name}-${index % 2}`;
    for (let step = 0, last = false; !last; step += 1) {
      last = isBack;
      await untilStored(`${name} ${index} ${step} ${crypto.randomUUID()}`, userId);
      const once = `${name} once ${index} ${step} ${crypto.randomUUID()}`;
      const isStored = await settled(
        await send("store", { content: once, user_id: userId }),
        tally,
      );
      (isStored ? tally.acknowledged : tally.unknown).add(once);
      await settled(await send("retrieve", { query: name, user_id: userId }), tally);
    }
  };
  const clients = Array.from({ length: CLIENTS }, (_, index) => client(index));
  await Bun.sleep(500);
  await happening(tally);
  isBack = true;
  await Promise.all(clients);
  return tally;
}

/** How often each text is in the log of messages. */
async function counts(name: string): Promise<ReadonlyMap<string, number>> {
  const sql = new Bun.SQL({ url: database?.url ?? "", max: 1 });
  try {
    const rows: { content: string; count: number }[] = await sql.unsafe(
      "SELECT content, count(*)::int AS count FROM events WHERE content LIKE $1 GROUP BY content",
      [`${name} %`],
    );
    return new Map(rows.map(({ content, count }) => [content, count]));
  } finally {
    await sql.close();
  }
}

/** Nothing that was acknowledged is missing, nothing is there twice, and nothing that nobody sent. */
async function expectWhole(name: string, tally: Tally): Promise<void> {
  expect(tally.complaints).toEqual([]);
  const found = await counts(name);
  expect([...tally.acknowledged].filter((content) => found.get(content) !== 1)).toEqual([]);
  const others = [...found].filter(([content]) => !tally.acknowledged.has(content));
  for (const [content, count] of others) {
    expect(tally.unknown.has(content)).toBeTrue();
    expect(count).toBe(1);
  }
  console.log(
    `${name}: acknowledged ${tally.acknowledged.size}, refused ${tally.refused}, tries after it was back ${tally.mostTries}`,
  );
}

/** Kills one process of the database server. It may be recovering from the one before, or the process may be gone. */
async function killOne(): Promise<void> {
  const sql = new Bun.SQL({ url: database?.url ?? "", max: 1 });
  try {
    const [row]: { pid: number }[] = await sql.unsafe(
      "SELECT pid FROM pg_stat_activity WHERE application_name = 'svc' LIMIT 1",
    );
    if (row !== undefined) process.kill(row.pid, "SIGKILL");
  } catch {
    // The next one is.
  } finally {
    await sql.close();
  }
}

describe.skipIf(NO_POSTGRES !== undefined)(`a database under load${leftOut(NO_POSTGRES)}`, () => {
  for (const signal of ["SIGINT", "SIGKILL"] as const) {
    test(`ended with ${signal} and started again loses nothing and has nothing twice`, async () => {
      const tally = await load(signal, async (so) => {
        await database?.halt(signal);
        await Bun.sleep(1000);
        // On a busy machine the first call may come to the database later than that.
        for (let waits = 0; so.refused === 0 && waits < 100; waits += 1) await Bun.sleep(200);
        await database?.resume();
      });
      expect(tally.refused).toBeGreaterThan(0);
      await expectWhole(signal, tally);
    });
  }

  test("whose connections are ended one after the other goes on", async () => {
    const tally = await load("ended", async () => {
      const sql = new Bun.SQL({ url: database?.url ?? "", max: 1 });
      for (let step = 0; step < 20; step += 1) {
        await sql.unsafe(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'svc' ORDER BY random() LIMIT 1",
        );
        await Bun.sleep(50);
      }
      await sql.close();
    });
    await expectWhole("ended", tally);
  });

  test("one of whose processes is killed with -9 recovers by itself", async () => {
    const tally = await load("killed", async (so) => {
      // A server may be back before any call has met it.
      for (let kills = 0; so.refused === 0 && kills < 20; kills += 1) {
        await killOne();
        await Bun.sleep(200);
        await database?.answers();
      }
    });
    expect(tally.refused).toBeGreaterThan(0);
    await expectWhole("killed", tally);
  });
});
