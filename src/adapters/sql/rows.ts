import { auditRecordForm } from "../../domain/records/audit.ts";
import { type RowOf, rowReader } from "../../domain/records/rows.ts";
import type { AuditRecord } from "../../ports/store/records.ts";

export type OperationRow = RowOf<AuditRecord>;
export const FROM_OPERATIONS =
  "SELECT id, op_type, target_id, payload, actor_id, namespace_id, created_at FROM operations";
export const toAuditRecord = rowReader(auditRecordForm);
