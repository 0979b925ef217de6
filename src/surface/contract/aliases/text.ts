import type { AliasReviewResult, ReviewedAlias } from "../../../engine/aliases/api.ts";
import { counted, EXCERPT_CHARS, json, listed, oneLine, rounded } from "../core/tool-text.ts";

export function tellProposals(proposals: readonly ReviewedAlias[]): string {
  if (proposals.length === 0) return "No aliases are proposed.";
  return [
    `${counted(proposals.length, "proposal", "proposals")}, newest first.`,
    ...listed(proposals, tellProposal),
  ].join("\n");
}

function tellProposal({ status, proposal }: ReviewedAlias): string {
  const { operationId, aliasType, score, leftBefore, rightBefore } = proposal;
  const [left, right] = [leftBefore, rightBefore].map(({ content }) =>
    json(oneLine(content, EXCERPT_CHARS)),
  );
  return `${operationId} (${status}, ${aliasType} ${rounded(score)}) ${left} and ${right}`;
}

export function tellReview({ decision, applied, proposalOperationId }: AliasReviewResult): string {
  const when = applied ? "" : "; it was recorded before";
  return `Recorded: proposal ${proposalOperationId} is ${decision}${when}.`;
}
