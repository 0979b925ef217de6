import { ALL_OWNERS } from "../../../domain/owner.ts";
import type { AuditLog } from "../../../ports/store/records.ts";
import type { Parts } from "../parts.ts";
import {
  readAuditRecord,
  readAuditRecords,
  readAuditRecordsOn,
  readChanges,
} from "./read-records.ts";

export function bindAudit({ database }: Pick<Parts, "database">): AuditLog {
  return {
    auditRecord: (id) => database.read(ALL_OWNERS, (sql) => readAuditRecord(sql, id)),
    auditRecordsOf: (page) => database.read(ALL_OWNERS, (sql) => readAuditRecords(sql, page)),
    changesOf: (page) => database.read(page.userId, (sql) => readChanges(sql, page)),
    auditRecordsOn: (page) => database.read(ALL_OWNERS, (sql) => readAuditRecordsOn(sql, page)),
  };
}
