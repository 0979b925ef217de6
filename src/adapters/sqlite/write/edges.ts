import type { Database } from "bun:sqlite";
import { SvcError } from "../../../domain/errors.ts";
import { type Edge, edgeForm } from "../../../domain/node.ts";
import { type RowOf, rowReader, rowWriter } from "../../../domain/records/rows.ts";
import type { Uuid } from "../../../lib/uuid.ts";

/** A row of `edges` joined with its owner's name and the ids of its ends. */
export type EdgeRow = { readonly key: number } & RowOf<Edge>;

/** Columns of an EdgeRow; `e` is `edges`, `o` its owner, `s` and `t` the nodes at its source and target. */
export const EDGE_COLUMNS = `e.key, e.id, o.user_id, s.id AS source_id, t.id AS target_id, e.edge_type, e.confidence,
  e.valid_from, e.valid_to, e.provenance_event_id, e.metadata, e.created_at`;

/** Joins `edges e` with everything that an EdgeRow names. */
export const JOINED_EDGE = `JOIN owners o ON o.owner = e.owner JOIN nodes s ON s.key = e.source
  JOIN nodes t ON t.key = e.target`;

export const toEdge = rowReader(edgeForm);

/** The edges with both ends among the nodes, of any owner, by (created_at, id). */
export function readEdgesAmong(database: Database, keys: readonly number[]): Edge[] {
  if (keys.length === 0) return [];
  return database
    .query<EdgeRow, [string]>(
      `SELECT ${EDGE_COLUMNS} FROM json_each(?1) k CROSS JOIN edges e ON e.source = k.value ${JOINED_EDGE}
       WHERE e.target IN (SELECT value FROM json_each(?1)) ORDER BY e.created_at, e.id`,
    )
    .all(JSON.stringify([...new Set(keys)]))
    .map(toEdge);
}

/** All edges at a node, in either direction, by (created_at, id). */
export function readEdgesOf(database: Database, id: Uuid): Edge[] {
  return database
    .query<EdgeRow, [string]>(
      `WITH at AS (SELECT key FROM nodes WHERE id = ?)
       SELECT ${EDGE_COLUMNS} FROM (SELECT e.key FROM at CROSS JOIN edges e ON e.source = at.key
         UNION SELECT e.key FROM at CROSS JOIN edges e ON e.target = at.key) k
       CROSS JOIN edges e ON e.key = k.key ${JOINED_EDGE} ORDER BY e.created_at, e.id`,
    )
    .all(id)
    .map(toEdge);
}

const INSERT_EDGE = `INSERT INTO edges
  (id, owner, source, target, edge_type, confidence, valid_from, valid_to, provenance_event_id, metadata, created_at)
  SELECT ?1, o.owner, s.key, t.key, ?4, ?6, ?7, ?8, ?9, ?10, ?11
  FROM owners o JOIN nodes s ON s.owner = o.owner AND s.id = ?2 JOIN nodes t ON t.owner = o.owner AND t.id = ?3
  WHERE o.user_id = ?5 ON CONFLICT (id) DO NOTHING`;
const valuesOf = rowWriter(edgeForm);

/**
 * Writes a new edge. Runs inside a write transaction.
 * @throws SvcError internal unless the edge is new and both ends exist and belong to its owner
 */
export function writeEdge(database: Database, edge: Edge): void {
  const { changes } = database.query(INSERT_EDGE).run(...valuesOf(edge));
  if (changes > 0) return;
  const message = `the edge ${edge.id} is there already, or ${edge.sourceId} and ${edge.targetId} are not both nodes of its owner`;
  throw new SvcError("internal", message, { edge: edge.id });
}
