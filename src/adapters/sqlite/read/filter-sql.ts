import type { Database } from "bun:sqlite";
import type { CandidateFilter } from "../../../domain/candidate-filter.ts";
import { Params } from "../../sql/conditions.ts";
import { SQLITE } from "../../sql/dialect.ts";
import { passes } from "../../sql/searches.ts";
import { isList } from "../../sql/statement.ts";
import type { Parameter } from "../connection/ask.ts";
import { ACTIVE } from "../write/turns.ts";

/** A condition on `nodes n` and the values of its question marks, in order. */
export type Condition = { readonly sql: string; readonly parameters: readonly Parameter[] };

/** `passesFilter` beyond the owner, as SQL; undefined if there is nothing to check. */
export function candidateCondition(filter: CandidateFilter): Condition | undefined {
  const params = new Params();
  const conditions = passes(SQLITE, params, filter);
  if (conditions.length === 0) return undefined;
  const parameters: Parameter[] = [];
  const sql = SQLITE.translate(conditions.join(" AND ")).replaceAll(
    /\(SELECT value FROM json_each\(\?(\d+)\)\)|\?(\d+)/g,
    (_, list?: string, place?: string) => {
      const value = params.values[Number(list ?? place) - 1] ?? null;
      const items = isList(value) ? value : [value];
      // SAFETY: a filter has texts, numbers and lists of texts.
      parameters.push(...(items as readonly Parameter[]));
      const marks = items.map(() => "?").join(", ");
      return list === undefined ? marks : `(${marks})`;
    },
  );
  return { sql, parameters };
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
