import { join } from "node:path";
import { openConnection } from "../../src/adapters/postgres/connection/open-connection.ts";
import type { Database, Sql } from "../../src/adapters/postgres/connection/sql.ts";
import { writeNodes } from "../../src/adapters/postgres/graph/write-nodes.ts";
import {
  openPostgresStore,
  type PostgresStoreOptions,
} from "../../src/adapters/postgres/open-store.ts";
import { ownerKey } from "../../src/adapters/postgres/owner-key.ts";
import { createSystemClock } from "../../src/adapters/system/clock.ts";
import type { Edge } from "../../src/domain/edge.ts";
import type { MemoryNode } from "../../src/domain/node.ts";
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

let template: Promise<string> | undefined;

/** A database with tables and without a manifest: a copy of it is there sooner than tables are made. */
async function makeTemplate(): Promise<string> {
  const name = await makeDatabase();
  const url = databaseUrl(name);
  await (await openPostgres({ url })).close();
  await onServer("DELETE FROM settings WHERE name <> 'schema_version'", name);
  return name;
}

/** An empty database of its own, made when it is first opened. */
export function postgresPlace(): StorePlace {
  let made: Promise<string> | undefined;
  const name = (): Promise<string> => {
    template ??= makeTemplate();
    made ??= template.then(makeDatabase);
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
      known = databaseUrl(await name());
      return await openPostgres({ url: known }, options);
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
      if (made !== undefined) await dropDatabase(await made);
    },
  };
}

async function seedNodes(sql: Sql, nodes: readonly MemoryNode[]): Promise<void> {
  for (const [owner, some] of Map.groupBy(nodes, ({ userId }) => ownerKey(userId))) {
    await writeNodes(sql, owner, some);
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
