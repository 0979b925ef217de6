import { type CandidateFilter, TIMELESS_TYPES } from "../../../domain/candidate-filter.ts";
import { ACTIVE, endedBefore, type Params } from "../../sql/conditions.ts";
import { POSTGRES, sqlList } from "../../sql/dialect.ts";

const BEYOND_TIME = `n.node_type IN ${sqlList(TIMELESS_TYPES)}`;
const STATED_TIME = "coalesce(n.event_time, n.created_at)";

/** Whether a node `n` of the owner $1 is active and passes a filter, as SQL. */
export function isCandidate(params: Params, filter: CandidateFilter): string {
  return [
    `n.owner = $1::bigint AND n.lifecycle_state IN ${ACTIVE}`,
    ...passes(params, filter),
  ].join(" AND ");
}

/** `passesFilter` of a node `n` beyond the owner, as SQL: conditions that all must hold; none if there is nothing to check. */
export function passes(params: Params, filter: CandidateFilter): readonly string[] {
  const conditions = [...ofKind(params, filter, "n")];
  if (filter.sourceTypes !== undefined) {
    conditions.push(params.any("n.source_type", filter.sourceTypes));
  }
  const compare = (sql: (place: string) => string, value: string | undefined): void => {
    if (value !== undefined) conditions.push(sql(params.add(value)));
  };
  compare((at) => `(${BEYOND_TIME} OR n.valid_to IS NULL OR n.valid_to > ${at})`, filter.timeFrom);
  compare((at) => `(${BEYOND_TIME} OR n.valid_from <= ${at})`, filter.timeTo);
  compare((at) => `n.created_at <= ${at}`, filter.knowledgeAt);
  compare((at) => `${STATED_TIME} >= ${at}`, filter.eventTimeFrom);
  compare((at) => `${STATED_TIME} <= ${at}`, filter.eventTimeTo);
  if (filter.aliveAt !== undefined) {
    const ended = endedBefore(POSTGRES, params, filter.aliveAt);
    conditions.push(`(n.pinned = 1 OR n.ttl_days IS NULL OR NOT (${ended}))`);
  }
  return conditions;
}

/** The part of a filter that never changes for a memory, and that its vector is stored with. @param table its alias */
export function ofKind(
  params: Params,
  { scopes, excludeNodeTypes = [] }: Pick<CandidateFilter, "scopes" | "excludeNodeTypes">,
  table: string,
): readonly string[] {
  const conditions: string[] = [];
  if (scopes !== undefined) conditions.push(params.any(`${table}.scope`, scopes));
  if (excludeNodeTypes.length > 0) {
    conditions.push(`NOT (${params.any(`${table}.node_type`, excludeNodeTypes)})`);
  }
  return conditions;
}
