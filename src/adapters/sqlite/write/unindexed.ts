import type { Database } from "bun:sqlite";
import type { MemoryNode } from "../../../domain/node.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import { documentNumber } from "./lexical-index.ts";
import { NODE_COLUMNS, type NodeRow, toNode } from "./rows.ts";
import { ACTIVE, HAS_TEXT } from "./turns.ts";

/**
 * Active nodes with text that an event created besides the node of its job, and that lack an entry in one of the indexes. An
 * event creates the nodes that cite it first; nodes that cite it later belong to other events.
 * @param own the node of the job
 */
export function readUnindexed(
  database: Database,
  event: { readonly key: number; readonly id: Uuid },
  own: Uuid,
): MemoryNode[] {
  return database
    .query<NodeRow, [number, string, string]>(
      `SELECT ${NODE_COLUMNS} FROM node_evidence c CROSS JOIN nodes n ON n.key = c.node
       JOIN owners o ON o.owner = n.owner
       WHERE c.event = ?1 AND n.evidence_refs ->> 0 = ?2 AND n.id <> ?3
         AND n.lifecycle_state IN ${ACTIVE} AND ${HAS_TEXT}
         AND (n.key NOT IN (SELECT node_key FROM vector_metadata)
           OR ${documentNumber("n.owner", "n.key")} NOT IN (SELECT id FROM lexical_documents_docsize))
       ORDER BY n.id`,
    )
    .all(event.key, event.id, own)
    .map(toNode);
}
