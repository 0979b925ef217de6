import type { Database } from "bun:sqlite";
import type { CandidateFilter } from "../../../domain/candidate-filter.ts";
import {
  ENTITIES_COMPARED,
  ENTITIES_FOUND,
  isNamed,
  namesToFind,
} from "../../../domain/search/graph.ts";
import { activeOf, type Parameter } from "./filter-sql.ts";

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
