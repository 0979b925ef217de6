import { isEverybody, type Owner } from "../../../domain/owner.ts";
import { ACTIVE, ofOwner, Params } from "../../sql/conditions.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { ownerKey } from "../owner-key.ts";
import { evict, HAS_DOCUMENT, HAS_VECTOR } from "../search/index-writes.ts";

/**
 * Removes entries without an active node from both indexes, one transaction per owner.
 * @param limit maximum nodes whose entries are removed; 0 only counts
 */
export async function sweepIndexes(
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
