import type { Database } from "bun:sqlite";
import type { CandidateFilter } from "../../../domain/candidate-filter.ts";
import { foldCase } from "../../../lib/text.ts";
import { activeOf, type Parameter } from "./filter-sql.ts";

/** Names that are looked for, and characters of one; what is longer is no name. */
const NAMES_MAX = 32;
const NAME_MAX_CHARS = 1000;
/** Entities whose text is compared, and entities that are returned; newest first. */
const COMPARED_MAX = 20_000;
const FOUND_MAX = 100;

type Entity = { readonly key: number; readonly content: string };

/** Keys of the newest active entities whose text holds one of the names, whatever its case, newest first. */
export function findEntities(
  database: Database,
  names: readonly string[],
  scopes: CandidateFilter["scopes"],
  owner: number,
): number[] {
  const wanted = names.filter((name) => name.trim() !== "" && name.length <= NAME_MAX_CHARS);
  const needles = [...new Set(wanted.map(foldCase))].slice(0, NAMES_MAX);
  if (needles.length === 0) return [];
  // SQLite folds the case of ASCII only: it decides about texts without anything else, and the others are compared here.
  const plain = needles.filter((needle) => Buffer.byteLength(needle) === needle.length);
  return database
    .query<Entity, Parameter[]>(matchingEntities(scopes?.length, plain.length))
    .all(owner, owner, ...(scopes ?? []), ...plain.map(likePattern))
    .filter(({ content }) => {
      const text = foldCase(content);
      return needles.some((needle) => text.includes(needle));
    })
    .slice(0, FOUND_MAX)
    .map(({ key }) => key);
}

const ENTITIES = `${activeOf(0).sql} AND n.node_type = 'entity'`;

function matchingEntities(scopes: number | undefined, patterns: number): string {
  const marks = Array.from({ length: scopes ?? 0 }, () => "?").join(", ");
  const inScope = scopes === undefined ? "" : `AND n.scope IN (${marks})`;
  const likes = Array.from({ length: patterns }, () => " OR n.content LIKE ? ESCAPE '!'").join("");
  return `SELECT n.key, n.content FROM nodes n
    WHERE ${ENTITIES} AND n.created_at >= coalesce(
        (SELECT n.created_at FROM nodes n WHERE ${ENTITIES} ORDER BY n.created_at DESC LIMIT 1 OFFSET ${COMPARED_MAX - 1}), '')
      ${inScope} AND (octet_length(n.content) > length(n.content)${likes})
    ORDER BY n.created_at DESC, n.id DESC`;
}

/** A pattern for texts that hold these characters, none of which has a meaning. */
function likePattern(text: string): string {
  return `%${text.replaceAll(/[!%_]/g, "!$&")}%`;
}
