import type { Database } from "bun:sqlite";
import type { Operation } from "../../../ports/store/audit-record.ts";

const INSERT_OPERATION = `INSERT INTO operations
  (id, op_type, target_id, payload, actor_id, namespace_id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`;

/** Appends an audit record. Runs inside a write transaction. */
export function writeOperation(database: Database, operation: Operation): void {
  database
    .query(INSERT_OPERATION)
    .run(
      operation.id,
      operation.opType,
      operation.targetId,
      JSON.stringify(operation.payload),
      operation.actorId,
      operation.namespaceId ?? null,
      operation.createdAt,
    );
}
