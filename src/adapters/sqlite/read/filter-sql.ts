import type { Database } from "bun:sqlite";
import { type CandidateFilter, TIMELESS_TYPES } from "../../../domain/candidate-filter.ts";
import { toEpochMillis } from "../../../lib/instant.ts";
import { END_FRACTION } from "../../sql/conditions.ts";
import { SQLITE, sqlList } from "../../sql/dialect.ts";
import type { Parameter } from "../connection/ask.ts";
import { ACTIVE } from "../write/turns.ts";

/** A condition on `nodes n` and the values of its question marks, in order. */
export type Condition = { readonly sql: string; readonly parameters: readonly Parameter[] };

/** Conditions that all must hold, and the values of their question marks. */
class Conditions {
  readonly #sql: string[] = [];
  readonly #parameters: Parameter[] = [];

  add(sql: string, ...parameters: Parameter[]): void {
    this.#sql.push(sql);
    this.#parameters.push(...parameters);
  }

  /** `column` is one of `values`; an empty list matches nothing. */
  addAny(column: string, values: readonly string[]): void {
    this.add(`${column} IN (${values.map(() => "?").join(", ")})`, ...values);
  }

  build(): Condition {
    return { sql: this.#sql.join(" AND ") || "1", parameters: this.#parameters };
  }
}

const BEYOND_TIME = `n.node_type IN ${sqlList(TIMELESS_TYPES)}`;
const STATED_TIME = "coalesce(n.event_time, n.created_at)";

/** `passesFilter` beyond the owner, as SQL; undefined if there is nothing to check. */
export function candidateCondition(filter: CandidateFilter): Condition | undefined {
  const conditions = new Conditions();
  if (filter.scopes !== undefined) conditions.addAny("n.scope", filter.scopes);
  if (filter.excludeNodeTypes !== undefined && filter.excludeNodeTypes.length > 0) {
    const marks = filter.excludeNodeTypes.map(() => "?").join(", ");
    conditions.add(`n.node_type NOT IN (${marks})`, ...filter.excludeNodeTypes);
  }
  if (filter.sourceTypes !== undefined) conditions.addAny("n.source_type", filter.sourceTypes);
  if (filter.timeFrom !== undefined) {
    conditions.add(`(${BEYOND_TIME} OR n.valid_to IS NULL OR n.valid_to > ?)`, filter.timeFrom);
  }
  if (filter.timeTo !== undefined) {
    conditions.add(`(${BEYOND_TIME} OR n.valid_from <= ?)`, filter.timeTo);
  }
  if (filter.knowledgeAt !== undefined) conditions.add("n.created_at <= ?", filter.knowledgeAt);
  if (filter.eventTimeFrom !== undefined)
    conditions.add(`${STATED_TIME} >= ?`, filter.eventTimeFrom);
  if (filter.eventTimeTo !== undefined) conditions.add(`${STATED_TIME} <= ?`, filter.eventTimeTo);
  if (filter.aliveAt !== undefined) {
    const second = Math.floor(toEpochMillis(filter.aliveAt) / 1000);
    conditions.add(
      `(n.pinned = 1 OR n.ttl_days IS NULL
        OR NOT (${SQLITE.endSecond} <= ? AND (${SQLITE.endSecond} < ? OR ${END_FRACTION} < ?)))`,
      ...[second, second, filter.aliveAt.slice(19)],
    );
  }
  const built = conditions.build();
  return built.sql === "1" ? undefined : built;
}

/** Owner (when known) and active state of `nodes n`. */
export function activeOf(owner: number): Condition {
  return { sql: `n.owner = ? AND n.lifecycle_state IN ${ACTIVE}`, parameters: [owner] };
}

/** The keys that are active nodes of the owner and pass; without a condition all of them, unchecked. */
export function allowedKeys(
  database: Database,
  keys: readonly number[],
  owner: number,
  narrowed: Condition | undefined,
): readonly number[] {
  if (narrowed === undefined) return keys;
  const active = activeOf(owner);
  return database
    .query<{ key: number }, Parameter[]>(
      `SELECT n.key FROM json_each(?) k CROSS JOIN nodes n ON n.key = k.value
       WHERE ${active.sql} AND ${narrowed.sql}`,
    )
    .all(JSON.stringify(keys), ...active.parameters, ...narrowed.parameters)
    .map(({ key }) => key);
}
