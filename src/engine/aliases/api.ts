import type { Scope } from "../../domain/enums.ts";
import type {
  AliasProposal,
  AliasReview,
  AliasStatus,
  ReviewDecision,
} from "../../domain/records/alias-proposal.ts";
import type { Uuid } from "../../lib/uuid.ts";

/** Names that may mean the same, as the organizer proposes them. `null` and `undefined` both mean absent. */

export type AliasQuery = {
  /** Absent: everybody's. */
  readonly userId?: string | null | undefined;
  readonly scope?: Scope | null | undefined;
  readonly status?: AliasStatus | null | undefined;
  /** 1 to 1000. Default 100. */
  readonly limit?: number | null | undefined;
};

export type ReviewedAlias = {
  readonly status: AliasStatus;
  readonly proposal: AliasProposal;
  /** Undefined while it is pending. */
  readonly review: AliasReview | undefined;
};

export type AliasReviewInput = {
  /** If given, proposals about memories of other owners are treated as missing. */
  readonly userId?: string | null | undefined;
  readonly decision: ReviewDecision;
  /** Who decides: 1 to 256 characters, not blank. */
  readonly reviewerId: string;
  /** At most 2048 characters; a rejection needs one. */
  readonly reason?: string | null | undefined;
};

export type AliasReviewResult = {
  readonly operationId: Uuid;
  readonly proposalOperationId: Uuid;
  readonly decision: ReviewDecision;
  /** False for a repeat. */
  readonly applied: boolean;
  /** Of an accepted one. */
  readonly verifiedEdgeId: Uuid | undefined;
};

export type AliasMethods = {
  /** Proposed aliases, newest first. @throws SvcError invalid_argument */
  listAliasProposals(query?: AliasQuery): Promise<readonly ReviewedAlias[]>;
  /**
   * Decides, once for ever, whether the two entities of a proposal are one. Accepted, an edge says so, which extraction and walks
   * over the graph follow; the memories stay two. The same review again changes nothing.
   * @param proposalId its `operationId`
   * @throws SvcError invalid_argument; not_found; request_conflict if it was reviewed otherwise; stale_proposal if one of the
   *   entities has changed since
   */
  reviewAliasProposal(proposalId: string, input: AliasReviewInput): Promise<AliasReviewResult>;
};
