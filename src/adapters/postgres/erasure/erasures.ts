import { ERASED_HASH, erasedPayload, erasureConflict } from "../../../domain/erasure.ts";
import { ALL_OWNERS } from "../../../domain/owner.ts";
import { sharedPasses } from "../../../lib/pause.ts";
import type { Erasure, Erasures } from "../../../ports/store/events.ts";
import type { AuditRecord } from "../../../ports/store/records.ts";
import { readAuditRecord, writeAuditRecords } from "../../sql/audit.ts";
import { removeBlobsOf } from "../../sql/blobs.ts";
import { readSetting, writeSetting } from "../../sql/settings.ts";
import { beyondWall } from "../connection/row-security.ts";
import { run } from "../connection/run.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { ownerKey } from "../owner-key.ts";
import { evict } from "../search/evict.ts";
import { keepFromErasing } from "./names-erased.ts";
import { readReached, readResting } from "./reached.ts";

/** Setting of a database: the private key that signs what is said of erasures. */
const SIGNING_KEY = "forget_signing_key";
/** The tables that had what was erased. */
const TABLES =
  "events, operations, nodes, edges, node_evidence, work, receipts, receipt_nodes, vectors, vector_parts, vector_staging, lexical_documents, lexical_postings, blobs, blob_uses";

export function bindErasures(database: Database) {
  const { read, write, writeAny } = database;
  const pass = sharedPasses(async () => {
    const unsettled = await read(ALL_OWNERS, readUnsettled);
    // Dead rows that somebody's snapshot still sees stay until the server's own next run.
    if (unsettled.length > 0) await database.alone(`VACUUM ${TABLES}`);
    await writeAny((sql) => noteSettled(sql, unsettled));
    return true;
  });
  return {
    restingOn: (userId, events) => read(userId, (sql) => readResting(sql, userId, events)),
    reached: (scope) => read(scope.userId, async (sql) => (await readReached(sql, scope)).counts),
    erase: (erasure) => write(erasure.userId, (sql) => erase(sql, erasure)),
    hasUnsettledErasures: () =>
      read(ALL_OWNERS, async (sql) => (await readUnsettled(sql)).length > 0),
    erasureStage: (forgetId) =>
      read(ALL_OWNERS, async (sql) =>
        (await readUnsettled(sql)).includes(forgetId) ? "logical" : "physical",
      ),
    settleErasures: async (waitMs) => {
      if ((await read(ALL_OWNERS, readUnsettled)).length === 0) return true;
      // Where it may not, the server only warns and does nothing.
      return (await read(ALL_OWNERS, mayVacuum)) && (await pass(waitMs));
    },
    // Pages, the log of the server and its replicas are not within reach of a client.
    scan: async () => undefined,
    signingKey: (made) =>
      writeAny(async (sql) => {
        await sql.run("SELECT pg_advisory_xact_lock(hashtext($1))", SIGNING_KEY);
        const kept = await run(sql, readSetting(SIGNING_KEY));
        if (kept === undefined) await run(sql, writeSetting(SIGNING_KEY, made));
        return kept ?? made;
      }),
  } satisfies Erasures;
}

/** Whether this user may vacuum all the tables: as an owner of them or of the database, or, from version 17 on, by MAINTAIN. */
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

/** Setting of a database: the erasures that are not settled, by id, with blanks between them. */
const UNSETTLED = "unsettled_erasures";

/** The erasures that are not settled. */
async function readUnsettled(sql: Sql): Promise<readonly string[]> {
  return (await run(sql, readSetting(UNSETTLED)))?.split(" ") ?? [];
}

/** Settles erasures. Those that came meanwhile are left. Runs inside a write transaction. */
async function noteSettled(sql: Sql, settled: readonly string[]): Promise<void> {
  const left = (await readUnsettled(sql)).filter((id) => !settled.includes(id));
  await run(sql, writeSetting(UNSETTLED, left.length === 0 ? undefined : left.join(" ")));
}

/** Erases in the caller's transaction, which has the lock of the owner. @throws SvcError request_conflict */
async function erase(sql: Sql, erasure: Erasure): Promise<AuditRecord> {
  const earlier = await run(sql, readAuditRecord(erasure.forgetId));
  if (earlier !== undefined) return earlier;
  await keepFromErasing(sql, ownerKey(erasure.userId), "alone");
  await requireFits(sql, erasure);
  const { forgetId, actorId, at, userId, events, nodes } = erasure;
  const owner = ownerKey(userId);
  const { operations, receipts, counts } = await readReached(sql, erasure);
  await sql.run(
    `INSERT INTO erasures (owner, event_id, forget_id, erased_at, actor)
     SELECT DISTINCT $1::bigint, id, $3::uuid, $4, $5 FROM unnest($2::uuid[]) id`,
    ...[owner, listText([...events, ...nodes]), forgetId, at, actorId],
  );
  await sql.run(
    "UPDATE events SET content = '', content_hash = $3, metadata = $4 WHERE owner = $1::bigint AND id = ANY ($2::uuid[])",
    ...[owner, listText(events), ERASED_HASH, JSON.stringify({ erased: forgetId, erased_at: at })],
  );
  await sql.run(
    `UPDATE work SET status = 'complete', due = NULL, payload = NULL, last_error = NULL, lease_owner = NULL,
       lease_expires_at = NULL, generation = generation + 1, updated_at = $3
     WHERE owner = $1::bigint AND event_id = ANY ($2::uuid[])`,
    ...[owner, listText(events), at],
  );
  await run(sql, removeBlobsOf(owner, events));
  await beyondWall(sql).run(
    "UPDATE operations SET payload = $2 WHERE key = ANY ($1::bigint[])",
    listText(operations),
    JSON.stringify(erasedPayload(forgetId)),
  );
  await sql.run(
    "DELETE FROM receipts WHERE owner = $1::bigint AND request_id = ANY ($2::uuid[])",
    owner,
    listText(receipts),
  );
  await eraseNodes(sql, owner, listText(nodes));
  const record = erasure.recordOf(counts);
  await run(sql, writeAuditRecords(owner, [record]));
  // Two owners may forget at the same time.
  await sql.run("SELECT pg_advisory_xact_lock(hashtext($1))", UNSETTLED);
  await run(sql, writeSetting(UNSETTLED, [...(await readUnsettled(sql)), forgetId].join(" ")));
  return record;
}

/** Whether everything is as the erasure takes it to be. @throws SvcError request_conflict */
async function requireFits(sql: Sql, { userId, events, nodes, kept }: Erasure): Promise<void> {
  const owner = ownerKey(userId);
  const there = await sql.get<{ n: number }>(
    "SELECT count(*)::int AS n FROM events WHERE owner = $1::bigint AND id = ANY ($2::uuid[]) AND content <> ''",
    owner,
    listText(events),
  );
  const known = await sql.get<{ n: number }>(
    "SELECT count(*)::int AS n FROM nodes WHERE owner = $1::bigint AND id = ANY ($2::uuid[])",
    owner,
    listText(nodes),
  );
  const named = new Set<string>([...nodes, ...kept]);
  const resting = await readResting(sql, userId, events);
  const isWhole = resting.every(({ id }) => named.has(id));
  if (there?.n !== events.length || known?.n !== nodes.length || !isWhole) throw erasureConflict();
}

/** Removes nodes as if they had been retired first: what is indexed for the turns around them is written again. */
async function eraseNodes(sql: Sql, owner: string, ids: string): Promise<void> {
  const rows = await sql.all<{ key: number }>(
    `UPDATE nodes SET lifecycle_state = 'archived' WHERE owner = $1::bigint AND id = ANY ($2::uuid[]) RETURNING key`,
    owner,
    ids,
  );
  const keys = rows.map(({ key }) => key);
  await evict(sql, owner, keys);
  await sql.run(
    "DELETE FROM vector_staging WHERE owner = $1::bigint AND key = ANY ($2::int[])",
    owner,
    listText(keys),
  );
  // Edges go with them.
  await sql.run("DELETE FROM nodes WHERE owner = $1::bigint AND id = ANY ($2::uuid[])", owner, ids);
}
