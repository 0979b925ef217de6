import type { Instant } from "../../../lib/instant.ts";

const AGGREGATION =
  "Aggregation coverage: a relevance search chose these records and others may be missing; give no total and no complete list on their strength.";
const HISTORICAL =
  "Historical coverage: knowledge_at leaves out what was stored later, but status, links and indexes are those of today; what changed since then is not undone, so this is no picture of that moment.";

/** What the records do not cover, one line each: for questions for a count or a complete list, and for an earlier moment. */
export function coverageNotice({
  isAggregation,
  knowledgeAt,
}: {
  readonly isAggregation: boolean;
  readonly knowledgeAt: Instant | undefined;
}): string | undefined {
  const lines = [
    ...(isAggregation ? [AGGREGATION] : []),
    ...(knowledgeAt === undefined ? [] : [HISTORICAL]),
  ];
  return lines.length === 0 ? undefined : lines.join("\n");
}
