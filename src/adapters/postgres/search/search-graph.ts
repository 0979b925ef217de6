import type { CandidateFilter } from "../../../domain/candidate-filter.ts";
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
} from "../../../domain/search/graph.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { GraphReach, Hit } from "../../../ports/store/search-index.ts";
import { ACTIVE, Params } from "../../sql/conditions.ts";
import type { Sql } from "../connection/sql.ts";
import { type OwnerKey, ownerKey } from "../owner-key.ts";
import { isCandidate } from "./candidates.ts";

/** Active nodes near the entities that a question names, `surestFirst`. Score = proximity. Runs in a snapshot. */
export async function searchGraph(
  sql: Sql,
  names: readonly string[],
  filter: CandidateFilter,
  { hops, limit }: GraphReach,
): Promise<readonly Hit<number>[]> {
  const owner = ownerKey(filter.userId);
  const seeds = limit === 0 ? [] : await findEntities(sql, owner, names, filter.scopes);
  if (seeds.length === 0) return [];
  const at = momentOf(filter);
  const steps = walkSteps(seeds, Math.min(hops, HOPS_MAX));
  let step = steps.next();
  while (step.done !== true) step = steps.next(await readLinks(sql, owner, step.value, at));
  const reached = step.value;
  const keys = await choose(sql, [...reached.keys()], filter, limit);
  return keys.map((key) => ({ key, score: proximity(reached.get(key) ?? 0) }));
}

/** `isWalkable` of an edge `e` at the moment $3, as SQL. */
const WALKABLE = "($3::text IS NULL OR e.valid_to IS NULL OR e.valid_to > $3::text)";

/** The newest edges of each of the nodes $2, in one direction. */
function linksAlong(here: "source" | "target", there: "source" | "target"): string {
  return `SELECT s.key AS near, l.far, l.created_at AS at, l.id AS edge FROM nodes s CROSS JOIN LATERAL (
      SELECT n.key AS far, e.created_at, e.id FROM edges e JOIN nodes n ON n.owner = $1::bigint AND n.id = e.${there}
      WHERE e.owner = $1::bigint AND e.${here} = s.id AND ${WALKABLE} AND e.created_at >= coalesce(
        (SELECT m.created_at FROM edges m WHERE m.owner = $1::bigint AND m.${here} = s.id
         ORDER BY m.created_at DESC LIMIT 1 OFFSET ${EDGES_LOOKED_AT - 1}), '')
      ORDER BY e.created_at DESC, e.id DESC LIMIT ${NEIGHBOURS_MAX}) l
    WHERE s.owner = $1::bigint AND s.key = ANY ($2::integer[])`;
}

const LINKS = `SELECT near, far FROM (${linksAlong("source", "target")}
  UNION ALL ${linksAlong("target", "source")}) l ORDER BY at DESC, edge DESC`;

/** Links of the nodes in both directions, newest edges first. */
function readLinks(
  sql: Sql,
  owner: OwnerKey,
  nodes: readonly number[],
  at: Instant | undefined,
): Promise<readonly Link[]> {
  return sql.all<Link>(LINKS, owner, nodes, at ?? null);
}

/** The nodes that a question may see, in the required order. */
async function choose(
  sql: Sql,
  keys: readonly number[],
  filter: CandidateFilter,
  limit: number,
): Promise<readonly number[]> {
  if (keys.length === 0) return [];
  const params = new Params(ownerKey(filter.userId), keys);
  const conditions = [isCandidate(params, filter)];
  const at = momentOf(filter);
  if (at !== undefined) {
    const moment = params.add(at);
    conditions.push(`n.valid_from <= ${moment} AND (n.valid_to IS NULL OR n.valid_to > ${moment})`);
  }
  const rows = await sql.all<{ key: number }>(
    `SELECT n.key FROM nodes n WHERE n.key = ANY ($2::integer[]) AND ${conditions.join(" AND ")}
     ORDER BY n.confidence DESC, n.created_at DESC, n.id LIMIT ${params.add(limit)}`,
    ...params.values,
  );
  return rows.map(({ key }) => key);
}

const IS_ENTITY = `n.owner = $1::bigint AND n.node_type = 'entity' AND n.lifecycle_state IN ${ACTIVE}`;

/** Keys of the newest active entities whose text contains one of the names, in any case, newest first. */
async function findEntities(
  sql: Sql,
  owner: OwnerKey,
  names: readonly string[],
  scopes: CandidateFilter["scopes"],
): Promise<readonly number[]> {
  const needles = namesToFind(names);
  if (needles.length === 0) return [];
  const params = new Params(owner);
  const inScope = scopes === undefined ? "true" : params.any("n.scope", scopes);
  // The collation folds only ASCII case: it decides about pure ASCII texts, and the others are compared here.
  const plain = needles.filter((needle) => Buffer.byteLength(needle) === needle.length);
  const isLike = plain.map(
    (needle) => `OR n.content ILIKE ${params.add(likePattern(needle))} ESCAPE '!'`,
  );
  const rows = await sql.all<{ key: number; content: string }>(
    `SELECT n.key, n.content FROM nodes n WHERE ${IS_ENTITY} AND n.created_at >= coalesce(
       (SELECT n.created_at FROM nodes n WHERE ${IS_ENTITY} ORDER BY n.created_at DESC LIMIT 1 OFFSET ${ENTITIES_COMPARED - 1}), '')
     AND ${inScope} AND (octet_length(n.content) > char_length(n.content) ${isLike.join(" ")})
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
