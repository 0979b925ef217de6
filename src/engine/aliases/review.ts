import { parseFilled, parseId, parseOptionalText, parseOwner } from "../../domain/arguments.ts";
import { parseMember } from "../../domain/enums.ts";
import { erasedBy } from "../../domain/erasure.ts";
import { invalid, missing, SvcError } from "../../domain/errors.ts";
import { LIMITS } from "../../domain/limits.ts";
import { type MemoryNode, nodeRecord } from "../../domain/node.ts";
import { areOpen, isCompatible } from "../../domain/organize/merge-policy.ts";
import { ALL_OWNERS, type Owner, owns } from "../../domain/owner.ts";
import {
  type AliasProposal,
  newReview,
  REVIEW_DECISIONS,
  readProposal,
  readReview,
  reviewIdOf,
  reviewPayload,
  type Verdict,
} from "../../domain/records/alias-proposal.ts";
import { canonicalJson } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { AuditLog } from "../../ports/store/audit-log.ts";
import type { AuditRecord } from "../../ports/store/audit-record.ts";
import type { ChangeSnapshot, Decision } from "../../ports/store/changes.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { AliasReviewInput, AliasReviewResult } from "./api.ts";

/** @throws SvcError invalid_argument; not_found; request_conflict; stale_proposal */
export async function reviewAliasProposal(
  { store }: { readonly store: Graph & AuditLog },
  proposalId: string,
  input: AliasReviewInput,
): Promise<AliasReviewResult> {
  const id = parseId(proposalId, "proposal_operation_id");
  const verdict = parseVerdict(input);
  const owner = parseOwner(input.userId);
  const entry = await store.auditRecord(id, ALL_OWNERS);
  const isThere = entry?.opType === "ALIAS_PROPOSED" && erasedBy(entry.payload) === undefined;
  if (!isThere) throw missingProposal(id);
  const proposal = readProposal(entry.payload);
  const reads = {
    nodeIds: [proposal.leftBefore.id, proposal.rightBefore.id],
    auditRecordIds: [reviewIdOf(id)],
    eventIds: [],
  };
  return store.change(reads, (snapshot) => decide(snapshot, { entry, proposal, owner, verdict }));
}

type Review = {
  readonly entry: AuditRecord;
  readonly proposal: AliasProposal;
  readonly owner: Owner;
  readonly verdict: Verdict;
};

function decide(
  snapshot: ChangeSnapshot,
  { entry, proposal, owner, verdict }: Review,
): Decision<AliasReviewResult> {
  const left = snapshot.nodes.get(proposal.leftBefore.id);
  const right = snapshot.nodes.get(proposal.rightBefore.id);
  if (left === undefined || right === undefined || !owns(owner, left.userId)) {
    throw missingProposal(entry.id);
  }
  const earlier = snapshot.auditRecords.get(reviewIdOf(entry.id));
  if (earlier !== undefined) return { change: undefined, result: repeated(earlier, verdict) };
  if (verdict.decision === "accepted") requireUnchanged(proposal, left, right);
  const review = newReview(proposal, entry.payload, verdict, [[left, right], snapshot.at]);
  const { operationId, verifiedEdge } = review;
  const auditRecord: AuditRecord = {
    id: operationId,
    opType: verdict.decision === "accepted" ? "ALIAS_PROPOSAL_ACCEPTED" : "ALIAS_PROPOSAL_REJECTED",
    targetId: entry.id,
    payload: reviewPayload(review),
    actorId: left.userId,
    namespaceId: left.scope,
    createdAt: snapshot.at,
  };
  const edges = verifiedEdge === undefined ? [] : [verifiedEdge];
  return {
    change: { nodes: [], edges, auditRecords: [auditRecord] },
    result: {
      operationId,
      proposalOperationId: entry.id,
      decision: verdict.decision,
      applied: true,
      verifiedEdgeId: verifiedEdge?.id,
    },
  };
}

/** @throws SvcError request_conflict */
function repeated(earlier: AuditRecord, verdict: Verdict): AliasReviewResult {
  const review = readReview(earlier.payload);
  const { operationId, proposalOperationId, decision, reviewerId, reason, verifiedEdge } = review;
  const isSame =
    decision === verdict.decision && reviewerId === verdict.reviewerId && reason === verdict.reason;
  if (!isSame) {
    throw new SvcError(
      "request_conflict",
      `proposal ${proposalOperationId} was ${decision} at ${review.decidedAt}; a review is final and can only be repeated with the same reviewer and reason`,
      { id: proposalOperationId },
    );
  }
  const verifiedEdgeId = verifiedEdge?.id;
  return { operationId, proposalOperationId, decision, applied: false, verifiedEdgeId };
}

/** @throws SvcError stale_proposal */
function requireUnchanged(proposal: AliasProposal, left: MemoryNode, right: MemoryNode): void {
  const { operationId, leftBefore, rightBefore } = proposal;
  const changed = [
    [left, leftBefore],
    [right, rightBefore],
  ].find(([now, before]) => now && before && snapshotOf(now) !== snapshotOf(before))?.[0];
  if (changed === undefined && areOpen(left, right) && isCompatible(left, right)) return;
  const { id } = changed ?? left;
  throw new SvcError(
    "stale_proposal",
    `memory ${id} has changed since proposal ${operationId} was made; it can be rejected only`,
    { id: operationId },
  );
}

/** Renames of owners do not matter. */
function snapshotOf(node: MemoryNode): string {
  return canonicalJson({ ...nodeRecord.to(node), userId: null });
}

function missingProposal(id: Uuid): SvcError {
  return missing("alias_proposal", id, `Alias proposal '${id}' not found`);
}

/** @throws SvcError invalid_argument */
function parseVerdict(input: AliasReviewInput): Verdict {
  const decision = parseMember(REVIEW_DECISIONS, input.decision, "decision");
  const reviewerId = bounded(
    parseFilled(input.reviewerId, "reviewer_id"),
    "reviewer_id",
    LIMITS.reviewerMaxChars,
  );
  const text = parseOptionalText(input.reason, "reason");
  const reason = text && bounded(text, "reason", LIMITS.reviewReasonMaxChars);
  if (decision === "rejected" && (reason ?? "").trim() === "") {
    throw invalid("reason", "a rejection needs one");
  }
  return { decision, reviewerId, reason };
}

function bounded(text: string, field: string, max: number): string {
  if ([...text].length <= max) return text;
  throw invalid(field, `must have at most ${max} characters`);
}
