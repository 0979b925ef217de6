import type { Database } from "bun:sqlite";
import { SCOPES } from "../../../domain/enums.ts";
import { isEverybody } from "../../../domain/owner.ts";
import { auditRecordForm } from "../../../domain/records/audit.ts";
import { type RowOf, rowReader } from "../../../domain/records/rows.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { AuditRecord } from "../../../ports/store/audit-record.ts";
import type { ProposalRead, ReviewedProposal } from "../../../ports/store/organizing.ts";
import type { Parameter } from "../connection/ask.ts";
import { readAuditRecord } from "../read/audit-records.ts";
import { ownerKeyOrAll } from "../write/owners.ts";

const toAuditRecord = rowReader(auditRecordForm);
type ReviewRow = RowOf<AuditRecord> & { readonly review: Uuid | null };

const STATUS = {
  pending: "r.op_type IS NULL",
  accepted: "r.op_type = 'ALIAS_PROPOSAL_ACCEPTED'",
  rejected: "r.op_type = 'ALIAS_PROPOSAL_REJECTED'",
} as const;

/** Proposed aliases of memories that an owner has now, newest first. */
export function readAliasProposals(
  database: Database,
  { owner: of, scope, status, limit }: ProposalRead,
): readonly ReviewedProposal[] {
  const owner = ownerKeyOrAll(database, of);
  if (owner === undefined) return [];
  const ofOwner = isEverybody(owner) ? "" : "AND n.owner = ?3";
  const scopes = scope === undefined ? SCOPES : [scope];
  const rows = database
    .query<ReviewRow, Parameter[]>(
      `SELECT p.id, p.op_type, p.target_id, p.payload, p.actor_id, p.namespace_id, p.created_at, r.id AS review
       FROM operations p CROSS JOIN nodes n ON n.id = p.target_id
       LEFT JOIN operations r ON r.target_id = p.id AND r.op_type IN ('ALIAS_PROPOSAL_ACCEPTED', 'ALIAS_PROPOSAL_REJECTED')
       WHERE p.namespace_id IN (SELECT value FROM json_each(?1)) AND p.op_type = 'ALIAS_PROPOSED'
         AND p.op_type <> 'DIRECT_STORE_REQUESTED' AND p.payload ->> 'erased' IS NULL AND ${status === undefined ? "TRUE" : STATUS[status]} ${ofOwner}
       ORDER BY p.created_at DESC, p.id DESC LIMIT ?2`,
    )
    .all(JSON.stringify(scopes), limit, ...(isEverybody(owner) ? [] : [owner]));
  return rows.map(({ review, ...proposal }) => ({
    proposal: toAuditRecord(proposal),
    review: review === null ? undefined : readAuditRecord(database, review),
  }));
}
