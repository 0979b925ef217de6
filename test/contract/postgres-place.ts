import { join } from "node:path";
import { openConnection } from "../../src/adapters/postgres/connection/open-connection.ts";
import { run } from "../../src/adapters/postgres/connection/run.ts";
import type { Database, Sql } from "../../src/adapters/postgres/connection/sql.ts";
import {
  openPostgresStore,
  type PostgresStoreOptions,
} from "../../src/adapters/postgres/open-store.ts";
import { ownerKey } from "../../src/adapters/postgres/owner-key.ts";
import { writeNodes } from "../../src/adapters/sql/change.ts";
import { createSystemClock } from "../../src/adapters/system/system.ts";
import type { Edge, MemoryNode } from "../../src/domain/node.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { databaseUrl, dropDatabase, makeDatabase, onServer } from "../postgres/databases.ts";
import { DIMENSION } from "./samples.ts";
import type { StorePlace } from "./store-contract.ts";

/** Which database a test works on; plain JSON, so that it can be handed to another process. */
export type PostgresPlace = { readonly url: string };

/** Opens a database as these tests do. */
export async function openPostgres(
  { url }: PostgresPlace,
  given: Partial<PostgresStoreOptions> = {},
): Promise<Store> {
  return await openPostgresStore({
    url,
    poolSize: 4,
    prepare: false,
    statementTimeoutMs: 60_000,
    createIfMissing: true,
    embedding: { model: "hand-made", version: "1", dimension: DIMENSION },
    softwareVersion: "1.2.3",
    scoringVersion: "0123456789ab",
    clock: createSystemClock(),
    // A test that has the time of a store has that of its leases, too.
    leaseClock: given.clock,
    ...given,
  });
}

/** A user whom row-level security stops. */
const STOPPABLE = `stoppable_${process.pid}`;
let role: Promise<unknown> | undefined;

/** An empty database of a user whom row-level security stops. @returns its address */
export async function stoppableDatabase(): Promise<string> {
  role ??= onServer(`CREATE ROLE ${STOPPABLE} LOGIN`);
  await role;
  const name = await makeDatabase();
  await onServer("CREATE EXTENSION vector", name);
  await onServer(`ALTER DATABASE ${name} OWNER TO ${STOPPABLE}`);
  return urlOf(name, true);
}

/** Whether with row-level security, how many partitions the tables have, and whether the next test gets the database, emptied. */
export type Made = {
  readonly isWalled?: boolean;
  readonly partitions?: number;
  readonly isReused?: boolean;
};

/** Databases with tables and without a manifest: a copy of one is there sooner than tables are made. */
const templates = new Map<string, Promise<string>>();

function templateOf(made: Made): Promise<string> {
  const key = JSON.stringify(made);
  const template = templates.get(key) ?? makeTemplate(made);
  templates.set(key, template);
  return template;
}

async function makeTemplate({ isWalled = false, partitions }: Made): Promise<string> {
  const url = await (isWalled ? stoppableDatabase() : makeDatabase().then(databaseUrl));
  await (await openPostgres({ url }, { rowSecurity: isWalled, partitions })).close();
  const name = new URL(url).pathname.slice(1);
  await onServer("DELETE FROM settings WHERE name NOT IN ('tables_version')", name);
  return name;
}

function urlOf(name: string, isWalled: boolean): string {
  const url = new URL(databaseUrl(name));
  if (isWalled) url.username = STOPPABLE;
  return url.href;
}

/** Databases that are empty again, by their kind: to empty one takes a tenth of what making and removing one takes. */
const emptied = new Map<string, string[]>();
/** The connections over which each is emptied. */
const brooms = new Map<string, Bun.SQL>();

/** Truncates the tables that have pages: each of all would be a new file, which takes ten times as long. */
const EMPTY = `DO $$ DECLARE filled text; BEGIN
  SET LOCAL session_replication_role = replica;
  SELECT string_agg(oid::regclass::text, ',') INTO filled FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'settings' AND pg_relation_size(oid) > 0;
  IF filled IS NOT NULL THEN EXECUTE 'TRUNCATE ' || filled || ' CASCADE'; END IF;
  DELETE FROM settings WHERE settings.name <> 'tables_version';
  PERFORM setval(seqrelid, seqstart, false) FROM pg_sequence;
END $$`;

async function empty(kind: Made, name: string): Promise<void> {
  const broom = brooms.get(name) ?? new Bun.SQL({ url: databaseUrl(name), max: 1, prepare: false });
  brooms.set(name, broom);
  // Nothing may be removed from the logs, except without their triggers.
  await broom.unsafe(EMPTY);
  const key = JSON.stringify(kind);
  emptied.set(key, [...(emptied.get(key) ?? []), name]);
}

async function take(kind: Made): Promise<string> {
  return emptied.get(JSON.stringify(kind))?.pop() ?? (await makeDatabase(await templateOf(kind)));
}

/** Removes the databases that are kept for another test. */
export async function removeEmptied(): Promise<void> {
  for (const broom of brooms.values()) await broom.close();
  brooms.clear();
  for (const name of [...emptied.values()].flat()) await dropDatabase(name);
  emptied.clear();
}

/** An empty database of its own, made when it is first opened. */
export function postgresPlace(kind: Made = {}, poolSize = 4): StorePlace {
  let made: Promise<string> | undefined;
  const name = (): Promise<string> => {
    made ??= take(kind);
    return made;
  };
  let seeding: Database | undefined;
  const writing = async (work: (sql: Sql) => Promise<unknown>): Promise<void> => {
    const url = databaseUrl(await name());
    seeding ??= openConnection({ url, poolSize: 1, prepare: false, statementTimeoutMs: 60_000 });
    await seeding.writeAny(work);
  };
  let known = "";
  return {
    open: async (options = {}) => {
      known = urlOf(await name(), kind.isWalled === true);
      return await openPostgres({ url: known }, { poolSize, ...options });
    },
    worker: (...args) => [
      process.execPath,
      join(import.meta.dir, "worker.ts"),
      JSON.stringify({ url: known } satisfies PostgresPlace),
      ...args,
    ],
    seed: {
      nodes: (nodes) => writing((sql) => seedNodes(sql, nodes)),
      edges: (edges) => writing((sql) => seedEdges(sql, edges)),
    },
    remove: async () => {
      await seeding?.close();
      if (made === undefined) return;
      await (kind.isReused === true ? empty(kind, await made) : dropDatabase(await made));
    },
  };
}

async function seedNodes(sql: Sql, nodes: readonly MemoryNode[]): Promise<void> {
  for (const [owner, some] of Map.groupBy(nodes, ({ userId }) => ownerKey(userId))) {
    await run(sql, writeNodes(owner, some));
  }
}

async function seedEdges(sql: Sql, edges: readonly Edge[]): Promise<void> {
  // Neither keys nor triggers are asked.
  await sql.run("SET LOCAL session_replication_role = replica");
  for (const edge of edges) {
    const { id, userId, sourceId, targetId, edgeType, confidence, validFrom } = edge;
    const metadata = edge.metadata === undefined ? null : JSON.stringify(edge.metadata);
    await sql.run(
      `INSERT INTO edges (owner, id, source, target, edge_type, confidence, valid_from, valid_to, metadata, created_at)
       VALUES ($1::bigint, $2::uuid, $3::uuid, $4::uuid, $5, $6, $7, $8, $9, $10)`,
      ...[ownerKey(userId), id, sourceId, targetId, edgeType, confidence, validFrom],
      ...[edge.validTo ?? null, metadata, edge.createdAt],
    );
  }
}
