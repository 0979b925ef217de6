import { SvcError } from "../../../domain/errors.ts";
import { type Edge, edgeForm } from "../../../domain/node.ts";
import { rowWriter } from "../../../domain/records/rows.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { ownerKey } from "../owner-key.ts";
import { type EdgeRow, FROM_EDGES, toEdge } from "../rows.ts";

/** The edges with both ends among the nodes, of any owner, by (created_at, id). */
export async function readEdgesAmong(sql: Sql, ids: readonly Uuid[]): Promise<Edge[]> {
  if (ids.length === 0) return [];
  const rows = await sql.all<EdgeRow>(
    `${FROM_EDGES} WHERE e.owner = ANY (SELECT n.owner FROM nodes n WHERE n.id = ANY ($1::uuid[]))
       AND e.source = ANY ($1::uuid[]) AND e.target = ANY ($1::uuid[]) ORDER BY e.created_at, e.id`,
    listText(ids),
  );
  return rows.map(toEdge);
}

/** All edges at a node, in either direction, by (created_at, id). */
export async function readEdgesOf(sql: Sql, id: Uuid): Promise<Edge[]> {
  const rows = await sql.all<EdgeRow>(
    `WITH place AS (SELECT owner FROM nodes WHERE id = $1::uuid)
     SELECT * FROM (${FROM_EDGES} JOIN place p ON p.owner = e.owner WHERE e.source = $1::uuid
       UNION ${FROM_EDGES} JOIN place p ON p.owner = e.owner WHERE e.target = $1::uuid) found
     ORDER BY created_at, id`,
    id,
  );
  return rows.map(toEdge);
}

const INSERT_EDGE = `INSERT INTO edges
  (id, source, target, edge_type, owner, confidence, valid_from, valid_to, provenance_event_id, metadata, created_at)
  SELECT $1::uuid, s.id, t.id, $4, s.owner, $6::float8, $7, $8, $9::uuid, $10, $11
  FROM nodes s JOIN nodes t ON t.owner = s.owner AND t.id = $3::uuid
  WHERE s.owner = $5::bigint AND s.id = $2::uuid ON CONFLICT DO NOTHING`;
const valuesOf = rowWriter(edgeForm);
/** Place of the owner's name among the values. */
const OWNER_AT = edgeForm.members.findIndex(({ key }) => key === "userId");

/**
 * Writes a new edge. Runs inside a write transaction.
 * @throws SvcError internal unless the edge is new and both ends exist and belong to its owner
 */
export async function writeEdge(sql: Sql, edge: Edge): Promise<void> {
  const values = valuesOf(edge).with(OWNER_AT, ownerKey(edge.userId));
  if ((await sql.run(INSERT_EDGE, ...values)) > 0) return;
  const message = `the edge ${edge.id} is there already, or ${edge.sourceId} and ${edge.targetId} are not both nodes of its owner`;
  throw new SvcError("internal", message, { edge: edge.id });
}
