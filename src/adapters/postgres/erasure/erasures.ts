import { ALL_OWNERS } from "../../../domain/owner.ts";
import { sharedPasses } from "../../../lib/pause.ts";
import { ACTIVE } from "../../sql/conditions.ts";
import { type ErasureHooks, noteSettled, readUnsettled } from "../../sql/erasure.ts";
import { run as runStep, statement } from "../../sql/statement.ts";
import { run } from "../connection/run.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { ownerKey } from "../owner-key.ts";
import { keepFromErasing } from "./names-erased.ts";

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
export function erasureHooks(database: Database): ErasureHooks {
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
