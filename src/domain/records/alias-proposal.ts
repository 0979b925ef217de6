import {
  anyObject,
  instant,
  member,
  named,
  natural,
  nullable,
  sha256,
  text,
  unit,
  uuid,
} from "../../lib/form.ts";
import { sha256OfJson } from "../../lib/hashing.ts";
import type { Instant } from "../../lib/instant.ts";
import type { JsonObject } from "../../lib/json.ts";
import { uuidV5 } from "../../lib/new-uuid.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { ValueOf } from "../../lib/view.ts";
import { type ChecksummedPayload, checksummed, openChecksummed } from "../checksummed.ts";
import { type Edge, edgeForm, edgeRecord } from "../edge.ts";
import { SCOPES } from "../enums.ts";
import { type MemoryNode, nodeForm, nodeRecord } from "../node.ts";
import { ALIAS_TYPES, type AliasType } from "../organize/merge-policy.ts";

const PROPOSAL_POLICY = "unverified_alias_proposals_v1";
const REVIEW_POLICY = "explicit_alias_proposal_review_v1";
export const REVIEW_DECISIONS = ["accepted", "rejected"] as const;
export type ReviewDecision = (typeof REVIEW_DECISIONS)[number];
export const ALIAS_STATUSES = ["pending", ...REVIEW_DECISIONS] as const;
export type AliasStatus = (typeof ALIAS_STATUSES)[number];

/** A proposal as answers have it. */
export const aliasProposalForm = named("AliasProposal", "Two entities that may be one.", {
  version: natural,
  policy: text,
  /** Names the proposal in a review. */
  operationId: uuid,
  aliasType: member(ALIAS_TYPES),
  score: unit,
  /** The entity with the lower id, as it was then. */
  leftBefore: nodeForm,
  rightBefore: nodeForm,
  /** Between the two, unverified: nothing follows it. */
  edge: edgeForm,
});
export type AliasProposal = ValueOf<typeof aliasProposalForm>;

/** What was decided about a proposal, as answers have it. */
export const aliasReviewForm = named("AliasReview", "A decision about a proposed alias.", {
  version: natural,
  policy: text,
  operationId: uuid,
  proposalOperationId: uuid,
  proposalPayloadSha256: sha256,
  /** The record of the proposal. */
  proposalPayload: anyObject,
  userId: text,
  scope: member(SCOPES),
  decision: member(REVIEW_DECISIONS),
  reviewerId: text,
  reason: nullable(text),
  decidedAt: instant,
  /** Of an accepted one: says that both names mean the same. */
  verifiedEdge: nullable(edgeForm),
});
export type AliasReview = ValueOf<typeof aliasReviewForm>;

/** The operation that proposes two entities, whichever was found first. */
export function proposalIdOf(lower: Uuid, higher: Uuid): Uuid {
  return uuidV5(lower, `svc:unverified-alias-proposal:v1:${higher}`);
}

/** The operation that decides about a proposal, once for ever. */
export function reviewIdOf(proposalId: Uuid): Uuid {
  return uuidV5(proposalId, "svc:alias-proposal-review:v1");
}

/** @param pair the entity with the lower id first */
export function newProposal(
  [left, right]: readonly [MemoryNode, MemoryNode],
  {
    aliasType,
    score,
    at,
  }: { readonly aliasType: AliasType; readonly score: number; readonly at: Instant },
): AliasProposal {
  const operationId = proposalIdOf(left.id, right.id);
  const metadata = { identity_verified: false, alias_operation_id: operationId };
  return {
    version: 1,
    policy: PROPOSAL_POLICY,
    operationId,
    aliasType,
    score,
    leftBefore: left,
    rightBefore: right,
    edge: aliasEdge(operationId, [left, right], { aliasType, score, at, metadata }),
  };
}

/** The `relates_to` edge between two names of one thing. */
function aliasEdge(
  operationId: Uuid,
  [left, right]: readonly [MemoryNode, MemoryNode],
  given: {
    readonly aliasType: AliasType;
    readonly score: number;
    readonly at: Instant;
    readonly metadata: JsonObject;
  },
): Edge {
  return {
    id: uuidV5(operationId, "edge"),
    userId: left.userId,
    sourceId: left.id,
    targetId: right.id,
    edgeType: "relates_to",
    confidence: given.score,
    validFrom: given.at,
    validTo: undefined,
    provenanceEventId: undefined,
    metadata: { relation: "alias", alias_type: given.aliasType, ...given.metadata },
    createdAt: given.at,
  };
}

export function proposalPayload(proposal: AliasProposal): ChecksummedPayload {
  const { version, policy, operationId, aliasType, score, leftBefore, rightBefore, edge } =
    proposal;
  return checksummed({
    version,
    policy,
    operation_id: operationId,
    alias_type: aliasType,
    score,
    left_before: nodeRecord.to(leftBefore),
    right_before: nodeRecord.to(rightBefore),
    edge: edgeRecord.to(edge),
  });
}

/** @throws SvcError storage_failed for a payload that is not what was written */
export function readProposal(payload: JsonObject): AliasProposal {
  // SAFETY: the checksum shows that `proposalPayload` wrote the record.
  const record = openChecksummed(payload) as Written<"left_before" | "right_before" | "edge">;
  return {
    version: Number(record["version"]),
    policy: String(record["policy"]),
    // SAFETY: as above.
    operationId: record["operation_id"] as Uuid,
    // SAFETY: as above.
    aliasType: record["alias_type"] as AliasType,
    score: Number(record["score"]),
    leftBefore: nodeRecord.from(record.left_before),
    rightBefore: nodeRecord.from(record.right_before),
    edge: edgeRecord.from(record.edge),
  };
}

type Written<Parts extends string> = JsonObject & { readonly [K in Parts]: JsonObject };

/** What a reviewer says. */
export type Verdict = {
  readonly decision: ReviewDecision;
  readonly reviewerId: string;
  readonly reason: string | undefined;
};

/** The decision about a proposal. @param pair the two entities as they are now, the one with the lower id first */
export function newReview(
  proposal: AliasProposal,
  payload: JsonObject,
  { decision, reviewerId, reason }: Verdict,
  [pair, at]: readonly [readonly [MemoryNode, MemoryNode], Instant],
): AliasReview {
  const { operationId: proposalOperationId, aliasType, score } = proposal;
  const operationId = reviewIdOf(proposalOperationId);
  const metadata = {
    identity_verified: true,
    proposal_operation_id: proposalOperationId,
    review_operation_id: operationId,
    reviewer_id: reviewerId,
  };
  const [{ userId, scope }] = pair;
  return {
    version: 1,
    policy: REVIEW_POLICY,
    operationId,
    proposalOperationId,
    proposalPayloadSha256: sha256OfJson(payload),
    proposalPayload: payload,
    userId,
    scope,
    decision,
    reviewerId,
    reason,
    decidedAt: at,
    verifiedEdge:
      decision === "accepted"
        ? aliasEdge(operationId, pair, { aliasType, score, at, metadata })
        : undefined,
  };
}

export function reviewPayload({ verifiedEdge, ...review }: AliasReview): ChecksummedPayload {
  return checksummed({
    version: review.version,
    policy: review.policy,
    operation_id: review.operationId,
    proposal_operation_id: review.proposalOperationId,
    proposal_payload_sha256: review.proposalPayloadSha256,
    proposal_payload: review.proposalPayload,
    user_id: review.userId,
    scope: review.scope,
    decision: review.decision,
    reviewer_id: review.reviewerId,
    reason: review.reason ?? null,
    decided_at: review.decidedAt,
    verified_edge: verifiedEdge === undefined ? null : edgeRecord.to(verifiedEdge),
  });
}

/** @throws SvcError storage_failed for a payload that is not what was written */
export function readReview(payload: JsonObject): AliasReview {
  // SAFETY: the checksum shows that `reviewPayload` wrote the record.
  const record = openChecksummed(payload) as Written<"proposal_payload">;
  const { reason, verified_edge: edge } = record;
  // SAFETY: as above.
  return {
    version: record["version"],
    policy: record["policy"],
    operationId: record["operation_id"],
    proposalOperationId: record["proposal_operation_id"],
    proposalPayloadSha256: record["proposal_payload_sha256"],
    proposalPayload: record.proposal_payload,
    userId: record["user_id"],
    scope: record["scope"],
    decision: record["decision"],
    reviewerId: record["reviewer_id"],
    reason: reason ?? undefined,
    decidedAt: record["decided_at"],
    // SAFETY: as above.
    verifiedEdge: edge === null ? undefined : edgeRecord.from(edge as JsonObject),
  } as AliasReview;
}
