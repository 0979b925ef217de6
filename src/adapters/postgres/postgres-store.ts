import { randomUUID } from "node:crypto";
import { formsOf, mayMean } from "../../domain/extraction/plan/claims.ts";
import { nameKey } from "../../domain/extraction/plan/context.ts";
import { ALL_OWNERS, isEverybody, type Owner } from "../../domain/owner.ts";
import { sharedPasses } from "../../lib/pause.ts";
import type { Activity, ChangeReads, Decide, StoreState } from "../../ports/store/graph.ts";
import type { Store } from "../../ports/store/store.ts";
import { bindAdmission } from "../sql/admission.ts";
import { bindAudit, bindChanges } from "../sql/audit.ts";
import { bindBlobs } from "../sql/blobs.ts";
import { bindBrowse } from "../sql/browse.ts";
import { addNodes, type ChangeHooks, change } from "../sql/change.ts";
import { ACTIVE, ofOwner, Params } from "../sql/conditions.ts";
import { bindEdges } from "../sql/edges.ts";
import { bindErasures, type ErasureHooks, noteSettled, readUnsettled } from "../sql/erasure.ts";
import { bindEventReads, readStates } from "../sql/events.ts";
import { bindExtraction } from "../sql/extraction.ts";
import { bindJobs } from "../sql/jobs.ts";
import { type KnownHooks, knownMemories, type Place } from "../sql/known.ts";
import { bindKeyed, bindNodes } from "../sql/nodes.ts";
import { bindOrganizing } from "../sql/organizing.ts";
import { bindOwners } from "../sql/owners.ts";
import { bindReceipts } from "../sql/receipts.ts";
import { bindTableSearches } from "../sql/searches.ts";
import { requireManifest } from "../sql/settings.ts";
import { all, run as runStep, type Steps, statement } from "../sql/statement.ts";
import { bindUpkeep } from "../sql/upkeep.ts";
import { bindWork, newHolder } from "../sql/work.ts";
import { accessOf, native, run } from "./connection/run.ts";
import type { Database, Sql } from "./connection/sql.ts";
import { type OwnerKey, ownerKey, ownerKeyOrNull } from "./owner-key.ts";
import { handOver } from "./owners/move-owner.ts";
import { createIndexRebuild } from "./rebuild/rebuild.ts";
import { bindSearches, type Parts, type PostgresStoreParts } from "./search/bind.ts";
import { evict, HAS_DOCUMENT, HAS_VECTOR, indexWrites } from "./search/index-writes.ts";

export function createPostgresStore(given: PostgresStoreParts): Store {
  // SAFETY: the key of a node is its number within its owner; it is created here alone, and callers only hand it back.
  return storeOf(given) as unknown as Store;
}

function storeOf(given: PostgresStoreParts): Store<number> {
  const worker = { holder: newHolder(), clock: given.leaseClock };
  const parts: Parts = { ...given, worker };
  const { clock, database } = parts;
  const roles = accessOf(database);
  const indexes = indexWrites(parts.embedding);
  const hooks = { now: () => clock.now(), indexes };
  const manifest = () => roles.read(ALL_OWNERS, requireManifest);
  return {
    backend: "postgres",
    rebuild: createIndexRebuild(parts),
    owners: bindOwners(roles, clock, handOver),
    manifest,
    ...bindAdmission(roles, { worker, hooks, apart: apartFromErasing }),
    ...bindNodes(roles),
    ...bindKeyed(roles),
    ...bindEdges(roles),
    change: (reads, decide) => changeAlone(database, reads, decide, { ...hooks, mayAdd: true }),
    ...bindBrowse(roles),
    ...bindEventReads(roles),
    ...bindSearches(parts),
    ...bindTableSearches(roles),
    ...bindAudit(roles),
    ...bindChanges(roles),
    ...bindState(database),
    ...bindWork(roles, worker),
    ...bindJobs(roles, worker, indexes),
    addNodes: (items) =>
      roles.writeNew(
        items.map(({ node }) => node.userId),
        () => addNodes(items, indexes),
      ),
    ...bindExtraction(roles, worker, indexes),
    knownMemories: (lookup) =>
      roles.snapshot(lookup.event.userId, () => knownMemories(lookup, knownHooks)),
    ...bindOrganizing(roles),
    ...bindReceipts(roles, apartFromErasing),
    ...bindUpkeep(roles),
    sweepIndexes: (owner, limit) => sweepIndexes(database, owner, limit),
    ...bindBlobs(roles),
    ...bindErasures(roles, { ...erasureHooks(database), indexes }),
    close: database.close,
  };
}

/** How a database stands. */
function bindState(database: Database): Pick<Activity, "storeState"> {
  // So that no other store gives the same sequence.
  const opening = randomUUID();
  return {
    storeState: (owner) => database.snapshot(owner, (sql) => readStoreState(sql, owner, opening)),
  };
}

/** The database, and what an owner has in it. */
async function readStoreState(sql: Sql, owner: Owner, opening: string): Promise<StoreState> {
  const isOf = isEverybody(owner) ? "true" : "o.owner = $1::bigint";
  const [states, rest] = await Promise.all([
    run(sql, readStates(owner)),
    sql.get<{ version: string; bytes: number }>(
      `SELECT (SELECT coalesce(sum(version), 0)::text FROM owners o WHERE ${isOf}) AS version,
         pg_database_size(current_database())::float8 AS bytes`,
      ...(isEverybody(owner) ? [] : [ownerKey(owner)]),
    ),
  ]);
  return {
    ...states,
    changeSequence: `${opening}-${rest?.version ?? ""}`,
    bytes: rest?.bytes ?? 0,
    // The disk may be encrypted, but no statement shows it.
    isEncrypted: undefined,
  };
}

const ENTITIES = statement(`SELECT id, content FROM nodes
  WHERE owner = $1::bigint AND scope = $2 AND node_type = 'entity' AND lifecycle_state IN ${ACTIVE} ORDER BY key`);
const CLAIMS = statement(`SELECT DISTINCT n.id, n.metadata::json ->> 'object' AS object FROM edges f
  JOIN nodes n ON n.owner = f.owner AND n.id = f.target
  WHERE f.owner = $1::bigint AND f.edge_type = 'has_fact' AND f.source = ANY ($2::uuid[]) AND n.lifecycle_state IN ${ACTIVE}`);

/** The database may fold case differently, so the names are compared here. */
function* entities({ owner, scope }: Place, names: readonly string[]): Steps<readonly string[]> {
  if (names.length === 0) return [];
  const wanted = new Set(names);
  const rows = yield* all<{ id: string; content: string }>(ENTITIES, owner, scope);
  return rows.filter(({ content }) => wanted.has(nameKey(content))).map(({ id }) => id);
}

/** Only their values are read, since they may be many. */
function* claims(
  { owner }: Place,
  subjects: readonly (string | number)[],
  values: readonly string[],
): Steps<readonly string[]> {
  if (subjects.length === 0 || values.length === 0) return [];
  const sought = values.map(formsOf);
  const rows = yield* all<{ id: string; object: string | null }>(CLAIMS, owner, subjects);
  return rows.filter(({ object }) => mayMean(formsOf(object ?? ""), sought)).map(({ id }) => id);
}

const knownHooks: KnownHooks = { entities, claims };

/** Reads, decides and writes under the locks of all owners whose data was read. */
async function changeAlone<T>(
  database: Database,
  reads: ChangeReads,
  decide: Decide<T>,
  hooks: ChangeHooks,
): Promise<T> {
  let owners = await database.read(ALL_OWNERS, (sql) => ownersOf(sql, reads));
  for (;;) {
    const outcome = await database.write(owners, async (sql) => {
      // A memory may have moved to another owner before its lock was taken.
      const now = await ownersOf(sql, reads);
      if (now.some((userId) => !owners.includes(userId))) return { owners: now };
      return { result: await run(sql, change(reads, decide, hooks)) };
    });
    if (!("owners" in outcome)) return outcome.result;
    owners = outcome.owners;
  }
}

/** The owners of what is read. */
async function ownersOf(sql: Sql, reads: ChangeReads): Promise<readonly string[]> {
  const { nodeIds, eventIds, edgesOf, claim, owner = ALL_OWNERS } = reads;
  const nodes = [...nodeIds, ...(edgesOf === undefined ? [] : [edgesOf])];
  const rows = await sql.all<{ user_id: string }>(
    `SELECT user_id FROM owners WHERE owner IN (SELECT owner FROM nodes WHERE id = ANY ($1::uuid[])
       UNION SELECT owner FROM events WHERE id = ANY ($2::uuid[])) AND ($3::bigint IS NULL OR owner = $3::bigint)`,
    nodes,
    eventIds,
    ownerKeyOrNull(owner),
  );
  const claimed = claim === undefined || isEverybody(claim.owner) ? [] : [claim.owner];
  return [...new Set([...rows.map(({ user_id: userId }) => userId), ...claimed])];
}

/**
 * Removes entries without an active node from both indexes, one transaction per owner.
 * @param limit maximum nodes whose entries are removed; 0 only counts
 */
async function sweepIndexes(
  database: Database,
  owner: Owner,
  limit: number,
): Promise<{ readonly found: number; readonly removed: number }> {
  const stale = await database.read(owner, (sql) => findStaleEntries(sql, owner));
  const byOwner = Map.groupBy(stale.slice(0, limit), ({ user_id: userId }) => userId);
  let removed = 0;
  for (const [userId, entries] of byOwner) {
    removed += await database.write(userId, (sql) =>
      removeStaleEntries(
        sql,
        userId,
        entries.map(({ key }) => key),
      ),
    );
  }
  return { found: stale.length, removed };
}

type StaleEntry = { readonly user_id: string; readonly key: number };

const IS_STALE = `n.lifecycle_state NOT IN ${ACTIVE} AND (${HAS_VECTOR} OR ${HAS_DOCUMENT})`;

async function findStaleEntries(sql: Sql, owner: Owner): Promise<readonly StaleEntry[]> {
  const params = new Params();
  return await sql.all<StaleEntry>(
    `SELECT o.user_id, n.key FROM nodes n JOIN owners o ON o.owner = n.owner WHERE ${IS_STALE}
       AND ${ofOwner(params, "n.owner", isEverybody(owner) ? owner : ownerKey(owner))} ORDER BY n.owner, n.key`,
    ...params.values,
  );
}

/** Runs inside a write transaction of the owner. @returns the number of nodes whose entries were removed */
async function removeStaleEntries(
  sql: Sql,
  userId: string,
  keys: readonly number[],
): Promise<number> {
  const owner = ownerKey(userId);
  const rows = await sql.all<{ key: number }>(
    `SELECT n.key FROM nodes n WHERE n.owner = $1::bigint AND n.key = ANY ($2::integer[]) AND ${IS_STALE}`,
    owner,
    keys,
  );
  await evict(
    sql,
    owner,
    rows.map(({ key }) => key),
  );
  return rows.length;
}

/** The tables that contained erased data. */
const TABLES =
  "events, operations, nodes, edges, node_evidence, work, receipts, receipt_nodes, vectors, vector_parts, vector_staging, lexical_documents, lexical_postings, blobs, blob_uses";

const NODES = "n.owner = $1::bigint AND n.id = ANY ($2::uuid[])";
const VECTORS = statement(
  `SELECT count(*)::float8 AS n FROM nodes n WHERE ${NODES} AND n.embedding IS NOT NULL`,
);
const DOCUMENTS = statement(
  `SELECT count(*)::float8 AS n FROM nodes n WHERE ${NODES} AND n.lifecycle_state IN ${ACTIVE} AND n.content <> ''`,
);
const UNSTAGE = statement(
  "DELETE FROM vector_staging WHERE owner = $1::bigint AND key = ANY ($2::integer[])",
);

/** What erasures in a database require of the server and its indexes. */
function erasureHooks(database: Database): ErasureHooks {
  const { read, write, writeAny } = database;
  const pass = sharedPasses(async () => {
    const unsettled = await read(ALL_OWNERS, (sql) => run(sql, readUnsettled()));
    // Dead rows still visible to a snapshot stay until the server's own next vacuum.
    if (unsettled.length > 0) await database.alone(`VACUUM ${TABLES}`);
    await writeAny((sql) => run(sql, noteSettled(unsettled)));
    return true;
  });
  return {
    erasing: (userId, work) =>
      write(userId, async (sql) => {
        await keepFromErasing(sql, ownerKey(userId), "alone");
        return await run(sql, work());
      }),
    vectors: VECTORS,
    documents: DOCUMENTS,
    release: (owner, keys) => runStep(UNSTAGE, owner, keys),
    // Without permission, the server only warns and does nothing.
    settle: async (waitMs) => (await read(ALL_OWNERS, mayVacuum)) && (await pass(waitMs)),
    // Pages, the server's log and its replicas are out of a client's reach.
    scan: async () => undefined,
  };
}

/** Whether this user may vacuum all the tables: as an owner of them or of the database or, from version 17 on, by MAINTAIN. */
async function mayVacuum(sql: Sql): Promise<boolean> {
  const row = await sql.get<{ may: boolean }>(
    `SELECT bool_and(pg_has_role(c.relowner, 'USAGE') OR pg_has_role(d.datdba, 'USAGE') OR
       CASE WHEN current_setting('server_version_num')::int >= 170000 THEN has_table_privilege(c.oid, 'MAINTAIN') END) IS TRUE AS may
     FROM unnest(string_to_array($1, ', ')) t JOIN pg_class c ON c.oid = to_regclass(t)
     JOIN pg_database d ON d.datname = current_database()`,
    TABLES,
  );
  return row?.may === true;
}

/**
 * Separates an owner's erasures from writes without the owner's lock until the transaction ends: an erasure must see all of those, and they
 * every erasure.
 */
async function keepFromErasing(sql: Sql, owner: OwnerKey, mode: "shared" | "alone"): Promise<void> {
  await sql.get(
    `SELECT pg_advisory_xact_lock${mode === "shared" ? "_shared" : ""}(hashtext('erasing'), hashtext($1))`,
    owner,
  );
}

/** Like `keepFromErasing`, for writes without the owner's lock, as a step of a role. */
function* apartFromErasing(userId: string): Steps<void> {
  yield* native((sql) => keepFromErasing(sql, ownerKey(userId), "shared"));
}
