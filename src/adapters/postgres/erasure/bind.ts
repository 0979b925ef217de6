import { ALL_OWNERS } from "../../../domain/owner.ts";
import { sharedPasses } from "../../../lib/pause.ts";
import type { Erasures } from "../../../ports/store/events.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { readSetting, writeSetting } from "../schema/settings.ts";
import { erase, noteSettled, readUnsettled } from "./erase.ts";
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
        const kept = await readSetting(sql, SIGNING_KEY);
        if (kept === undefined) await writeSetting(sql, SIGNING_KEY, made);
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
