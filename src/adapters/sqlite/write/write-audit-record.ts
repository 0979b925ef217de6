import type { Database } from "bun:sqlite";
import { auditRecordForm } from "../../../domain/records/audit.ts";
import { rowWriter } from "../../../domain/records/rows.ts";
import type { AuditRecord } from "../../../ports/store/records.ts";

const INSERT_OPERATION = `INSERT INTO operations
  (id, op_type, target_id, payload, actor_id, namespace_id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`;
const valuesOf = rowWriter(auditRecordForm);

/** Appends an audit record. Runs inside a write transaction. */
export function writeAuditRecord(database: Database, record: AuditRecord): void {
  database.query(INSERT_OPERATION).run(...valuesOf(record));
}
