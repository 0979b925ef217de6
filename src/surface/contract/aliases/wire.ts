import {
  ALIAS_STATUSES,
  aliasProposalForm,
  aliasReviewForm,
  REVIEW_DECISIONS,
} from "../../../domain/records/alias-proposal.ts";
import type { AliasReviewResult, ReviewedAlias } from "../../../engine/aliases/api.ts";
import { flag, member, nullable, uuid } from "../../../lib/form.ts";
import { noted, view } from "../../../lib/view.ts";

/** A proposal in a list. */
export const reviewedAliasView = noted(
  view<ReviewedAlias>()({
    status: member(ALIAS_STATUSES),
    proposal: aliasProposalForm,
    review: noted(nullable(aliasReviewForm), { description: "Null while it is pending." }),
  }),
  { id: "ReviewedAlias", description: "A proposed alias, and what was decided about it." },
);

const resultMembers = {
  operationId: uuid,
  proposalOperationId: uuid,
  decision: member(REVIEW_DECISIONS),
  applied: noted(flag, { description: "False for a repeat." }),
  verifiedEdgeId: nullable(uuid),
};

/** What came of a review. */
export const reviewResultView = noted(view<AliasReviewResult>()(resultMembers), {
  id: "AliasReviewResult",
});

/** The same as a tool answers it; what the caller gave is left out. */
export const reviewToolView = view<AliasReviewResult>()({
  applied: flag,
  verifiedEdgeId: nullable(uuid),
});
