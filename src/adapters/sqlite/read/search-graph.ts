import type { Database } from "bun:sqlite";
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
  walk,
} from "../../../domain/search/graph.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { GraphReach, Hit } from "../../../ports/store/search-index.ts";
import type { Parameter } from "../connection/ask.ts";
import { ownerKey } from "../write/owners.ts";
import { activeOf, type Condition, candidateCondition } from "./filter-sql.ts";

/** Active nodes near the entities that a question names, `surestFirst`. Score = proximity. */
export function searchGraph(
  database: Database,
  names: readonly string[],
  filter: CandidateFilter,
  { hops, limit }: GraphReach,
): Hit<number>[] {
  const owner = ownerKey(database, filter.userId);
  if (owner === undefined || limit === 0) return [];
  const seeds = findEntities(database, names, filter.scopes, owner);
  const at = momentOf(filter);
  const reached = walk(seeds, Math.min(hops, HOPS_MAX), (nodes) =>
    readLinks(database, nodes, owner, at),
  );
  return choose(database, [...reached.keys()], filter, { owner, limit }).map((key) => ({
    key,
    score: proximity(reached.get(key) ?? 0),
  }));
}

/** `isWalkable` of an edge `e` of the owner ?2 at the moment ?3, as SQL. */
const WALKABLE = "e.owner = ?2 AND (?3 IS NULL OR e.valid_to IS NULL OR e.valid_to > ?3)";

/** The newest edges of each of the nodes ?1, in one direction, that lead to nodes of the owner. */
function linksAlong(here: "source" | "target", there: "source" | "target"): string {
  return `SELECT k.value AS near, l.${there} AS far, l.created_at AS at, l.key AS edge
    FROM json_each(?1) k CROSS JOIN edges l ON l.key IN (
      SELECT e.key FROM edges e CROSS JOIN nodes n ON n.key = e.${there} AND n.owner = ?2
      WHERE e.${here} = k.value AND ${WALKABLE} AND e.created_at >= coalesce(
        (SELECT created_at FROM edges WHERE ${here} = k.value ORDER BY created_at DESC LIMIT 1 OFFSET ${EDGES_LOOKED_AT - 1}), '')
      ORDER BY e.created_at DESC, e.key DESC LIMIT ${NEIGHBOURS_MAX})`;
}

const LINKS = `${linksAlong("source", "target")} UNION ALL ${linksAlong("target", "source")}
  ORDER BY at DESC, edge DESC`;

/** Links of the nodes in both directions, newest edges first. */
function readLinks(
  database: Database,
  nodes: readonly number[],
  owner: number,
  at: Instant | undefined,
): Link[] {
  return database
    .query<Link, [string, number, string | null]>(LINKS)
    .all(JSON.stringify(nodes), owner, at ?? null);
}

/** The nodes that a question may see, in the required order. */
function choose(
  database: Database,
  keys: readonly number[],
  filter: CandidateFilter,
  { owner, limit }: { readonly owner: number; readonly limit: number },
): number[] {
  if (keys.length === 0) return [];
  const conditions = [activeOf(owner), candidateCondition(filter), validAt(filter)].flatMap(
    (condition) => condition ?? [],
  );
  return database
    .query<{ key: number }, Parameter[]>(
      `SELECT n.key FROM json_each(?) k CROSS JOIN nodes n ON n.key = k.value
       WHERE ${conditions.map(({ sql }) => sql).join(" AND ")}
       ORDER BY n.confidence DESC, n.created_at DESC, n.id LIMIT ?`,
    )
    .all(JSON.stringify(keys), ...conditions.flatMap(({ parameters }) => parameters), limit)
    .map(({ key }) => key);
}

/** `holdsAt`, as SQL. */
function validAt(filter: CandidateFilter): Condition | undefined {
  const at = momentOf(filter);
  if (at === undefined) return undefined;
  const sql = "n.valid_from <= ? AND (n.valid_to IS NULL OR n.valid_to > ?)";
  return { sql, parameters: [at, at] };
}

type Entity = { readonly key: number; readonly content: string };

/** Keys of the newest active entities whose text contains one of the names, in any case, newest first. */
export function findEntities(
  database: Database,
  names: readonly string[],
  scopes: CandidateFilter["scopes"],
  owner: number,
): number[] {
  const needles = namesToFind(names);
  if (needles.length === 0) return [];
  // SQLite folds only ASCII case: it decides about pure ASCII texts, and the others are compared here.
  const plain = needles.filter((needle) => Buffer.byteLength(needle) === needle.length);
  return database
    .query<Entity, Parameter[]>(matchingEntities(scopes?.length, plain.length))
    .all(owner, owner, ...(scopes ?? []), ...plain.map(likePattern))
    .filter(({ content }) => isNamed(content, needles))
    .slice(0, ENTITIES_FOUND)
    .map(({ key }) => key);
}

const ENTITIES = `${activeOf(0).sql} AND n.node_type = 'entity'`;

function matchingEntities(scopes: number | undefined, patterns: number): string {
  const marks = Array.from({ length: scopes ?? 0 }, () => "?").join(", ");
  const inScope = scopes === undefined ? "" : `AND n.scope IN (${marks})`;
  const likes = Array.from({ length: patterns }, () => " OR n.content LIKE ? ESCAPE '!'").join("");
  return `SELECT n.key, n.content FROM nodes n
    WHERE ${ENTITIES} AND n.created_at >= coalesce(
        (SELECT n.created_at FROM nodes n WHERE ${ENTITIES} ORDER BY n.created_at DESC LIMIT 1 OFFSET ${ENTITIES_COMPARED - 1}), '')
      ${inScope} AND (octet_length(n.content) > length(n.content)${likes})
    ORDER BY n.created_at DESC, n.id DESC`;
}

/** A pattern for texts that contain these characters literally. */
function likePattern(text: string): string {
  return `%${text.replaceAll(/[!%_]/g, "!$&")}%`;
}
