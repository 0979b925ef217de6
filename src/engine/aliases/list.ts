import { parseOptionalInteger, parseOptionalMember, parseOwner } from "../../domain/arguments.ts";
import { SCOPES } from "../../domain/enums.ts";
import { LIMITS } from "../../domain/limits.ts";
import { ALIAS_STATUSES, readProposal, readReview } from "../../domain/records/alias-proposal.ts";
import type { Organizing } from "../../ports/store/organizing.ts";
import type { AliasQuery, ReviewedAlias } from "./api.ts";

const DEFAULT_LIMIT = 100;

/** @throws SvcError invalid_argument; storage_failed for a record that was altered */
export async function listAliasProposals(
  { store }: { readonly store: Organizing },
  query: AliasQuery,
): Promise<readonly ReviewedAlias[]> {
  const found = await store.aliasProposals({
    owner: parseOwner(query.userId),
    scope: parseOptionalMember(SCOPES, query.scope, "scope"),
    status: parseOptionalMember(ALIAS_STATUSES, query.status, "status"),
    limit: parseOptionalInteger(query.limit, "limit", 1, LIMITS.aliasProposalsMax) ?? DEFAULT_LIMIT,
  });
  return found.map(({ proposal, review: reviewed }) => {
    const review = reviewed && readReview(reviewed.payload);
    return {
      status: review?.decision ?? "pending",
      proposal: readProposal(proposal.payload),
      review,
    };
  });
}
