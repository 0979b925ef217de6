import { z } from "zod";
import { SCOPES } from "../../../domain/enums.ts";
import { LIMITS } from "../../../domain/limits.ts";
import { ALIAS_STATUSES, REVIEW_DECISIONS } from "../../../domain/records/alias-proposal.ts";
import type { ReviewedAlias } from "../../../engine/aliases/api.ts";
import { list } from "../../../lib/form.ts";
import { told, view } from "../../../lib/view.ts";
import {
  anyOwner,
  anyOwnerInQuery,
  boundedText,
  choiceInQuery,
  id,
  wholeNumber,
} from "../core/fields.ts";
import { defineOperation, part } from "../core/operation.ts";
import { CHANGES, READS } from "../core/operation-parts.ts";
import { optional, required } from "../core/request.ts";
import { tellProposals, tellReview } from "./text.ts";
import { reviewedAliasView, reviewResultView, reviewToolView } from "./wire.ts";

const listOperation = defineOperation({
  name: "list_alias_proposals",
  summary: "List proposed aliases",
  description:
    "Pairs of entities that may be one under two names, as the organizer proposes them, newest first.",
  request: {
    user_id: { ...anyOwnerInQuery, tool: anyOwner.tool, isOpen: true },
    scope: choiceInQuery(SCOPES),
    status: choiceInQuery(ALIAS_STATUSES, { description: "Absent: any." }),
    limit: wholeNumber([1, LIMITS.aliasProposalsMax], 100),
  },
  run: ({ engine }, query) => engine().listAliasProposals(query),
  answer: list(reviewedAliasView),
  http: { route: "get /v1/alias-proposals" },
  mcp: {
    tool: "memory_list_alias_proposals",
    title: "List aliases",
    description: "List entities that may be one under two names, for the user to decide.",
    argumentOrder: ["status"],
    silentArguments: ["scope", "limit"],
    annotations: READS,
    // Older revisions of the protocol allow only objects.
    output: view<readonly ReviewedAlias[]>()({
      result: told(list(reviewedAliasView), (proposals) => proposals),
    }),
    tell: tellProposals,
  },
});

const reviewOperation = defineOperation({
  name: "review_alias_proposal",
  summary: "Decide about a proposed alias",
  description:
    "Once for ever. Accepted, an edge says that both names mean the same; the two entities stay two. A repeat changes nothing.",
  request: {
    proposal_operation_id: id(),
    decision: required(z.enum(REVIEW_DECISIONS), "Whether both names mean the same.", {}),
    reviewer_id: required(
      boundedText(LIMITS.reviewerMaxChars, false),
      { description: "Who decides.", examples: ["ada"] },
      {},
    ),
    reason: optional(z.string().max(LIMITS.reviewReasonMaxChars), "Why; needed to reject.", {}),
    user_id: anyOwner,
  },
  run: ({ engine }, { proposalOperationId, ...review }) =>
    engine().reviewAliasProposal(proposalOperationId, review),
  answer: reviewResultView,
  http: {
    route: "post /v1/alias-proposals/{proposal_operation_id}/review",
    body: "AliasReviewRequest",
    statuses: [404, 409],
  },
  mcp: {
    tool: "memory_review_alias_proposal",
    title: "Review an alias",
    description: "Record the user's decision about a proposed alias; it cannot be changed.",
    argumentOrder: ["proposal_operation_id", "decision", "reviewer_id", "reason"],
    annotations: CHANGES,
    output: reviewToolView,
    tell: tellReview,
  },
});

/** The operations on proposed aliases. */
export const ALIAS_OPERATIONS = part("organizing", listOperation, reviewOperation);
