import type { CandidateFilter } from "../../../domain/candidate-filter.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { nearestPart, PARTS_FROM, packParts } from "../../../domain/search/turns.ts";
import type { TextParts } from "../../../ports/store/search-index.ts";
import { ACTIVE, Params } from "../../sql/conditions.ts";
import { POSTGRES } from "../../sql/dialect.ts";
import { FROM_NODES, type NodeRow, toNode } from "../../sql/rows.ts";
import { isCandidate } from "../../sql/searches.ts";
import type { Sql } from "../connection/sql.ts";
import { type OwnerKey, ownerKey } from "../owner-key.ts";

/** Stores the vectors of parts of an owner's texts. Runs inside a transaction that holds the owner's lock. */
export async function putParts(
  sql: Sql,
  owner: OwnerKey,
  texts: readonly TextParts[],
): Promise<void> {
  await sql.run(
    `INSERT INTO vector_parts (owner, key, parts) SELECT n.owner, n.key, decode(u.p, 'hex')
     FROM unnest($2::uuid[], $3::text[]) u (id, p) JOIN nodes n ON n.owner = $1::bigint AND n.id = u.id
       JOIN vectors v ON v.owner = n.owner AND v.key = n.key
     WHERE n.lifecycle_state IN ${ACTIVE}
     ON CONFLICT (owner, key) DO UPDATE SET parts = excluded.parts`,
    owner,
    texts.map(({ nodeId }) => nodeId),
    texts.map(({ vectors }) => Buffer.from(packParts(vectors)).toString("hex")),
  );
}

/** See the port. */
export async function readTextsWithoutParts(
  sql: Sql,
  bytes: number,
  limit: number,
): Promise<readonly MemoryNode[]> {
  const rows = await sql.all<NodeRow>(
    // The first condition is the index's.
    `${FROM_NODES} WHERE octet_length(n.content) > ${PARTS_FROM} AND octet_length(n.content) > $1
       AND n.lifecycle_state IN ${ACTIVE}
       AND EXISTS (SELECT 1 FROM vectors v WHERE v.owner = n.owner AND v.key = n.key)
       AND NOT EXISTS (SELECT 1 FROM vector_parts p WHERE p.owner = n.owner AND p.key = n.key)
     ORDER BY n.owner, n.key LIMIT $2`,
    bytes,
    limit,
  );
  return rows.map(toNode);
}

type PartsRow = { readonly key: number; readonly parts: Uint8Array };

/** The cosine of the nearest part of each of an owner's long texts that passes. */
export async function nearestParts(
  sql: Sql,
  vector: Float32Array,
  filter: CandidateFilter,
): Promise<ReadonlyMap<number, number>> {
  const params = new Params(ownerKey(filter.userId));
  const passing = isCandidate(POSTGRES, params, filter);
  const rows = await sql.all<PartsRow>(
    `SELECT p.key, p.parts FROM vector_parts p JOIN nodes n ON n.owner = p.owner AND n.key = p.key
     WHERE p.owner = $1::bigint AND ${passing}`,
    ...params.values,
  );
  return nearest(vector, rows);
}

/** The same for some of the owner's nodes. */
export async function nearestPartsOf(
  sql: Sql,
  vector: Float32Array,
  owner: OwnerKey,
  keys: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await sql.all<PartsRow>(
    "SELECT key, parts FROM vector_parts WHERE owner = $1::bigint AND key = ANY ($2::integer[])",
    owner,
    keys,
  );
  return nearest(vector, rows);
}

function nearest(vector: Float32Array, rows: readonly PartsRow[]): ReadonlyMap<number, number> {
  return new Map(rows.map(({ key, parts }) => [key, nearestPart(vector, parts)]));
}
