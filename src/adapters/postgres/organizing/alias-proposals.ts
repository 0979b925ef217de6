import { SCOPES } from "../../../domain/enums.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { ProposalRead, ReviewedProposal } from "../../../ports/store/organizing.ts";
import { readAuditRecordsById } from "../audit/read-records.ts";
import { ofOwner } from "../conditions.ts";
import { Params } from "../connection/params.ts";
import { beyondWall } from "../connection/row-security.ts";
import type { Sql } from "../connection/sql.ts";
import { type OperationRow, toAuditRecord } from "../rows.ts";

type ReviewRow = OperationRow & { readonly review: Uuid | null };

const STATUS = {
  pending: "r.op_type IS NULL",
  accepted: "r.op_type = 'ALIAS_PROPOSAL_ACCEPTED'",
  rejected: "r.op_type = 'ALIAS_PROPOSAL_REJECTED'",
} as const;

/** Proposed aliases of memories that an owner has now, newest first. */
export async function readAliasProposals(
  sql: Sql,
  { owner, scope, status, limit }: ProposalRead,
): Promise<readonly ReviewedProposal[]> {
  const params = new Params(limit);
  const scopes = scope === undefined ? SCOPES : [scope];
  const rows = await beyondWall(sql).all<ReviewRow>(
    `SELECT p.id, p.op_type, p.target_id, p.payload, p.actor_id, p.namespace_id, p.created_at, r.id AS review
     FROM operations p JOIN nodes n ON n.id::text = p.target_id
     LEFT JOIN operations r ON r.target_id = p.id::text
       AND r.op_type IN ('ALIAS_PROPOSAL_ACCEPTED', 'ALIAS_PROPOSAL_REJECTED')
     WHERE ${params.any("p.namespace_id", scopes)} AND p.op_type = 'ALIAS_PROPOSED'
       AND p.op_type <> 'DIRECT_STORE_REQUESTED' AND p.payload::json ->> 'erased' IS NULL
       AND ${status === undefined ? "true" : STATUS[status]}
       AND ${ofOwner(params, "n", owner)}
     ORDER BY p.created_at DESC, p.id DESC LIMIT $1`,
    ...params.values,
  );
  const reviews = await readAuditRecordsById(
    sql,
    rows.flatMap(({ review }) => review ?? []),
  );
  return rows.map(({ review, ...proposal }) => ({
    proposal: toAuditRecord(proposal),
    review: review === null ? undefined : reviews.get(review),
  }));
}
