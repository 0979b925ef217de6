import type { Database } from "bun:sqlite";
import type { AuditRecord } from "../../../ports/store/audit-record.ts";

const INSERT_OPERATION = `INSERT INTO operations
  (id, op_type, target_id, payload, actor_id, namespace_id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`;

/** Appends an audit record. Runs inside a write transaction. */
export function writeAuditRecord(database: Database, record: AuditRecord): void {
  database
    .query(INSERT_OPERATION)
    .run(
      record.id,
      record.opType,
      record.targetId,
      JSON.stringify(record.payload),
      record.actorId,
      record.namespaceId ?? null,
      record.createdAt,
    );
}
