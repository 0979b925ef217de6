import type { auditRecordForm } from "../../domain/records/audit.ts";
import type { ValueOf } from "../../lib/view.ts";

/** One row of the insert-only audit log. */
export type AuditRecord = ValueOf<typeof auditRecordForm>;
