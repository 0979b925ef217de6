import { foldCase } from "../../lib/text.ts";
import type { CandidateFilter } from "../candidate-filter.ts";
import type { Edge } from "../edge.ts";
import type { MemoryNode } from "../node.ts";

/** How a question reaches memories over edges: from the entities that it names, a few hops along the newest edges. */

/** Names that are searched for, and UTF-16 units of one; anything longer is not a name. */
const NAMES_MAX = 32;
const NAME_MAX_CHARS = 1000;
/** The newest entities of an owner, whose texts are compared with the names. */
export const ENTITIES_COMPARED = 20_000;
/** The newest of the matching entities, where a walk starts. */
export const ENTITIES_FOUND = 100;

/** Edges of a node in one direction that are examined to find some that may be followed, newest first. */
export const EDGES_LOOKED_AT = 256;
/** Edges in one direction that are examined for one hop of a neighborhood, so that it takes well under a second. */
export const NEIGHBORHOOD_EDGES = 50_000;

/** The score of a memory by its hops from the nearest entity, from one hop on. */
const PROXIMITY: readonly number[] = [1, 0.7, 0.4];
/** The longest walk. */
export const HOPS_MAX = PROXIMITY.length;

/** The score at this number of hops, from 1 on; 0 beyond the longest walk. */
export function proximity(hops: number): number {
  return PROXIMITY[hops - 1] ?? 0;
}

/** The names of a question in the form in which they are compared with texts: folded, without repeats. */
export function namesToFind(names: readonly string[]): readonly string[] {
  const wanted = names.filter((name) => name.trim() !== "" && name.length <= NAME_MAX_CHARS);
  return [...new Set(wanted.map(foldCase))].slice(0, NAMES_MAX);
}

/** Whether the text of an entity contains one of the names. @param names of `namesToFind` */
export function isNamed(content: string, names: readonly string[]): boolean {
  const text = foldCase(content);
  return names.some((name) => text.includes(name));
}

/** Whether a walk may use an edge for a question about a time. */
export function isWalkable(edge: Edge, filter: CandidateFilter): boolean {
  const at = momentOf(filter);
  return at === undefined || edge.validTo === undefined || edge.validTo > at;
}

/** Whether a memory that a walk reached is valid at the time of the question; entities and preferences are no exception here. */
export function holdsAt(node: MemoryNode, filter: CandidateFilter): boolean {
  const at = momentOf(filter);
  if (at === undefined) return true;
  return node.validFrom <= at && (node.validTo === undefined || node.validTo > at);
}

/** The moment at which edges and the memories they lead to must be valid; undefined: at any. */
export function momentOf({ timeFrom, timeTo }: CandidateFilter): CandidateFilter["timeFrom"] {
  return timeFrom ?? timeTo;
}
