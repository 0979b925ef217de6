import { type CandidateFilter, TIMELESS_TYPES } from "../../domain/candidate-filter.ts";
import { STATEMENTS } from "../../domain/extraction/plan/claims.ts";
import { newestFirst } from "../../domain/search/bm25.ts";
import {
  type ClaimRow,
  claimOf,
  type LaterRow,
  laterOf,
  PIN_STATES,
  PINS_MAX,
  REPLACEMENTS_FOLLOWED,
  replacedClaims,
  replacementsOf,
} from "../../domain/search/change.ts";
import {
  EDGES_LOOKED_AT,
  ENTITIES_COMPARED,
  ENTITIES_FOUND,
  HOPS_MAX,
  isNamed,
  type Link,
  momentOf,
  NEIGHBOURS_MAX,
  namesToFind,
  proximity,
  walkSteps,
} from "../../domain/search/graph.ts";
import type { Instant } from "../../lib/instant.ts";
import type { GraphReach, Hit, Replacement, SearchIndex } from "../../ports/store/search-index.ts";
import { ACTIVE, endedBefore, Params } from "./conditions.ts";
import { type Dialect, sqlList } from "./dialect.ts";
import * as sql from "./statement.ts";

/** Searches that use tables alone, without the vector or word index. */
export function bindTableSearches({ read, snapshot }: sql.Access) {
  return {
    searchGraph: (names, filter, reach) =>
      snapshot(filter.userId, () => searchGraph(names, filter, reach)),
    pinned: (filter) => read(filter.userId, () => readPinned(filter)),
    replacedNotes: (userId, keys) => snapshot(userId, () => readReplacedNotes(userId, keys)),
  } satisfies Partial<SearchIndex<number>>;
}

const BEYOND_TIME = `n.node_type IN ${sqlList(TIMELESS_TYPES)}`;
const STATED_TIME = "coalesce(n.event_time, n.created_at)";

/** Whether a node `n` of the owner $1 is active and passes a filter, as SQL. */
export function isCandidate(d: Dialect, params: Params, filter: CandidateFilter): string {
  return [
    `n.owner = $1::bigint AND n.lifecycle_state IN ${ACTIVE}`,
    ...passes(d, params, filter),
  ].join(" AND ");
}

/** `passesFilter` of a node `n` beyond the owner, as SQL: conditions that all must hold; none if there is nothing to check. */
export function passes(d: Dialect, params: Params, filter: CandidateFilter): readonly string[] {
  const conditions = [...ofKind(params, filter, "n")];
  if (filter.sourceTypes !== undefined) {
    conditions.push(params.any("n.source_type", filter.sourceTypes));
  }
  const compare = (toText: (place: string) => string, value: string | undefined): void => {
    if (value !== undefined) conditions.push(toText(params.add(value)));
  };
  compare((at) => `(${BEYOND_TIME} OR n.valid_to IS NULL OR n.valid_to > ${at})`, filter.timeFrom);
  compare((at) => `(${BEYOND_TIME} OR n.valid_from <= ${at})`, filter.timeTo);
  compare((at) => `n.created_at <= ${at}`, filter.knowledgeAt);
  compare((at) => `${STATED_TIME} >= ${at}`, filter.eventTimeFrom);
  compare((at) => `${STATED_TIME} <= ${at}`, filter.eventTimeTo);
  if (filter.aliveAt !== undefined) {
    const ended = endedBefore(d, params, filter.aliveAt);
    conditions.push(`(n.pinned = 1 OR n.ttl_days IS NULL OR NOT (${ended}))`);
  }
  return conditions;
}

/** The part of a filter that is constant for a memory, and stored with its vector. @param table its alias */
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

/** Pinned memories (`isPinned`) and tasks in `PIN_STATES`, exactly as in their partial indexes. */
const PINNED = "(n.pinned = 1 OR n.salience >= 1.0) AND (n.pinned = 1 OR n.salience_base >= 1.0)";
const TASK = "n.node_type = 'task'";
const IN_STATE = `n.lifecycle_state IN ${sqlList(PIN_STATES)}`;

type PinRow = { readonly key: number; readonly createdAt: Instant; readonly id: string };

/** Keys of the owner's newest pinned nodes and newest tasks, newest first, each once. */
export function* readPinned(filter: CandidateFilter): sql.Steps<readonly number[]> {
  const owner = yield* sql.ownerKey(filter.userId);
  if (owner === undefined) return [];
  const params = new Params(owner);
  const narrowed = ["true", ...passes(yield* sql.dialect(), params, filter)].join(" AND ");
  const kinds = [PINNED, TASK].map(
    (
      kind,
    ) => `SELECT * FROM (SELECT n.key, n.created_at AS "createdAt", n.id::text AS id FROM nodes n
      WHERE n.owner = $1::bigint AND ${kind} AND ${IN_STATE} AND ${narrowed}
      ORDER BY n.created_at DESC, n.id DESC LIMIT ${PINS_MAX}) named`,
  );
  const rows = yield* sql.all<PinRow>(kinds.join(" UNION ALL "), ...params.values);
  return [...new Set(rows.sort(newestFirst).map(({ key }) => key))];
}

/** Active nodes near the entities that a question names, `surestFirst`. Score = proximity. */
export function* searchGraph(
  names: readonly string[],
  filter: CandidateFilter,
  { hops, limit }: GraphReach,
): sql.Steps<readonly Hit<number>[]> {
  const owner = yield* sql.ownerKey(filter.userId);
  if (owner === undefined || limit === 0) return [];
  const seeds = yield* findEntities(owner, names, filter.scopes);
  if (seeds.length === 0) return [];
  const at = momentOf(filter) ?? null;
  const steps = walkSteps(seeds, Math.min(hops, HOPS_MAX));
  let step = steps.next();
  while (step.done !== true) step = steps.next(yield* sql.all<Link>(LINKS, owner, step.value, at));
  const reached = step.value;
  const keys = yield* choose(owner, [...reached.keys()], filter, limit);
  return keys.map((key) => ({ key, score: proximity(reached.get(key) ?? 0) }));
}

/** `isWalkable` of an edge `e` at the moment $3, as SQL. */
const WALKABLE = "($3::text IS NULL OR e.valid_to IS NULL OR e.valid_to > $3::text)";
type End = "source" | "target";

/** The newest edges of each of the nodes $2 of the owner $1, in one direction, that lead to nodes of the owner. */
function linksAlong({ isOwnerInKeys }: Dialect, here: End, there: End): string {
  return isOwnerInKeys
    ? `SELECT s.key AS near, l.far, l.created_at AS at, l.id AS edge FROM nodes s CROSS JOIN LATERAL (
      SELECT n.key AS far, e.created_at, e.id FROM edges e JOIN nodes n ON n.owner = $1::bigint AND n.id = e.${there}
      WHERE e.owner = $1::bigint AND e.${here} = s.id AND ${WALKABLE} AND e.created_at >= coalesce(
        (SELECT m.created_at FROM edges m WHERE m.owner = $1::bigint AND m.${here} = s.id
         ORDER BY m.created_at DESC LIMIT 1 OFFSET ${EDGES_LOOKED_AT - 1}), '')
      ORDER BY e.created_at DESC, e.id DESC LIMIT ${NEIGHBOURS_MAX}) l
    WHERE s.owner = $1::bigint AND s.key = ANY ($2::integer[])`
    : `SELECT k.value AS near, l.${there} AS far, l.created_at AS at, l.key AS edge
    FROM json_each($2) k CROSS JOIN edges l ON l.key IN (
      SELECT e.key FROM edges e CROSS JOIN nodes n ON n.key = e.${there} AND n.owner = $1
      WHERE e.${here} = k.value AND e.owner = $1 AND ${WALKABLE} AND e.created_at >= coalesce(
        (SELECT created_at FROM edges WHERE ${here} = k.value ORDER BY created_at DESC LIMIT 1 OFFSET ${EDGES_LOOKED_AT - 1}), '')
      ORDER BY e.created_at DESC, e.key DESC LIMIT ${NEIGHBOURS_MAX})`;
}

/** Links of the nodes in both directions, newest edges first. */
const LINKS = sql.statement(
  (d) => `${linksAlong(d, "source", "target")} UNION ALL ${linksAlong(d, "target", "source")}
    ORDER BY at DESC, edge DESC`,
);

/** The nodes that a question may access, in the required order. */
function* choose(
  owner: sql.OwnerKey,
  keys: readonly number[],
  filter: CandidateFilter,
  limit: number,
): sql.Steps<readonly number[]> {
  if (keys.length === 0) return [];
  const d = yield* sql.dialect();
  const params = new Params(owner, keys);
  const conditions = [isCandidate(d, params, filter)];
  const at = momentOf(filter);
  if (at !== undefined) {
    const moment = params.add(at);
    conditions.push(`n.valid_from <= ${moment} AND (n.valid_to IS NULL OR n.valid_to > ${moment})`);
  }
  const rows = yield* sql.all<{ key: number }>(
    `SELECT n.key FROM ${d.each("$2", "integer", "k")} ${d.join} nodes n ON n.key = k.value
     WHERE ${conditions.join(" AND ")} ORDER BY n.confidence DESC, n.created_at DESC, n.id LIMIT ${params.add(limit)}`,
    ...params.values,
  );
  return rows.map(({ key }) => key);
}

const IS_ENTITY = `n.owner = $1::bigint AND n.lifecycle_state IN ${ACTIVE} AND n.node_type = 'entity'`;

/** Keys of the newest active entities whose text contains one of the names, in any case, newest first. */
function* findEntities(
  owner: sql.OwnerKey,
  names: readonly string[],
  scopes: CandidateFilter["scopes"],
): sql.Steps<readonly number[]> {
  const needles = namesToFind(names);
  if (needles.length === 0) return [];
  const { like } = yield* sql.dialect();
  const params = new Params(owner);
  const inScope = scopes === undefined ? "true" : params.any("n.scope", scopes);
  // Databases only agree on folding ASCII case: they decide about pure ASCII texts, the others are compared here.
  const plain = needles.filter((needle) => Buffer.byteLength(needle) === needle.length);
  const isLike = plain.map(
    (needle) => `OR n.content ${like} ${params.add(likePattern(needle))} ESCAPE '!'`,
  );
  const rows = yield* sql.all<{ key: number; content: string }>(
    `SELECT n.key, n.content FROM nodes n WHERE ${IS_ENTITY} AND n.created_at >= coalesce(
       (SELECT n.created_at FROM nodes n WHERE ${IS_ENTITY} ORDER BY n.created_at DESC LIMIT 1 OFFSET ${ENTITIES_COMPARED - 1}), '')
     AND ${inScope} AND (octet_length(n.content) > length(n.content) ${isLike.join(" ")})
     ORDER BY n.created_at DESC, n.id DESC`,
    ...params.values,
  );
  return rows
    .filter(({ content }) => isNamed(content, needles))
    .slice(0, ENTITIES_FOUND)
    .map(({ key }) => key);
}

/** A pattern for texts that contain these characters literally. */
function likePattern(text: string): string {
  return `%${text.replaceAll(/[!%_]/g, "!$&")}%`;
}

const CLAIMS = sqlList([...STATEMENTS]);

/** What replaced a node, as SQL: null if it is valid, or ended otherwise. */
const replacing = (node: string): string =>
  `CASE WHEN ${node}.lifecycle_state NOT IN ${ACTIVE} THEN ${node}.superseded_by END`;

/** The claims of each note of $2, by the events that the note cites. Most owners have none, which is checked first. */
const CLAIMS_OF_NOTES = sql.statement(
  ({
    isOwnerInKeys,
    each,
    join,
  }) => `SELECT n.key AS note, n.evidence_refs AS cited, ${replacing("c")} AS next
    FROM ${each("$2", "integer", "k")} ${join} nodes n ON n.key = k.value AND n.owner = $1::bigint ${
      isOwnerInKeys
        ? `CROSS JOIN LATERAL json_array_elements_text(n.evidence_refs::json) r (id)
      JOIN events e ON e.owner = $1::bigint AND e.id = r.id::uuid
      JOIN node_evidence v ON v.owner = $1::bigint AND v.event_id = e.id
      JOIN nodes c ON c.owner = $1::bigint AND c.key = v.node_key`
        : `CROSS JOIN json_each(n.evidence_refs) r CROSS JOIN events e ON e.id = r.value AND e.owner = $1
      CROSS JOIN node_evidence v ON v.event = e.key CROSS JOIN nodes c ON c.key = v.node AND c.owner = $1`
    } AND c.node_type IN ${CLAIMS}
    WHERE n.node_type = 'note' AND n.lifecycle_state IN ${ACTIVE}
      AND EXISTS (SELECT 1 FROM nodes x WHERE x.owner = $1::bigint AND x.node_type IN ${CLAIMS})`,
);

/** The nodes with the ids of $2, what replaced them, what replaced that, and so on. */
const REPLACEMENTS = sql.statement(
  ({ each, join }) => `WITH RECURSIVE named (id) AS (
      SELECT k.value FROM ${each("$2", "uuid", "k")}
      UNION SELECT ${replacing("n")} FROM named ${join} nodes n ON n.owner = $1::bigint AND n.id = named.id)
    SELECT n.id, n.node_type, n.evidence_refs AS cited, ${replacing("n")} AS next
    FROM (SELECT id FROM named LIMIT ${REPLACEMENTS_FOLLOWED}) named ${join} nodes n ON n.owner = $1::bigint AND n.id = named.id`,
);

/** What replaced everything extracted from a note's message; other notes are left out. */
export function* readReplacedNotes(
  userId: string,
  keys: readonly number[],
): sql.Steps<ReadonlyMap<number, readonly Replacement[]>> {
  const owner = yield* sql.ownerKey(userId);
  if (owner === undefined || keys.length === 0) return new Map();
  const claims = replacedClaims(
    (yield* sql.all<ClaimRow>(CLAIMS_OF_NOTES, owner, keys)).map(claimOf),
  );
  const next = [...new Set(claims.flatMap((claim) => claim.next ?? []))];
  const rows = next.length === 0 ? [] : yield* sql.all<LaterRow>(REPLACEMENTS, owner, next);
  return replacementsOf(claims, new Map(rows.map(laterOf).map((node) => [node.id, node])));
}
