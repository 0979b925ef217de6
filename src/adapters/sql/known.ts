import type { EdgeType } from "../../domain/enums.ts";
import {
  isKnownEntity,
  type KnownClaim,
  type KnownMemories,
  NOTHING_KNOWN,
  ownerReferenceId,
} from "../../domain/extraction/plan/context.ts";
import { isActive } from "../../domain/lifecycle.ts";
import type { MemoryNode } from "../../domain/node.ts";
import { compareUnits } from "../../lib/text.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { KnownLookup } from "../../ports/store/work.ts";
import { readOwnerNames } from "./audit.ts";
import { fromNodes, type NodeRow, toNode } from "./rows.ts";
import * as sql from "./statement.ts";

/** Where memories are looked up. */
export type Place = { readonly owner: sql.OwnerKey; readonly scope: string };
/** How an edge refers to a node. */
type Ref = string | number;

/** How each store finds potentially large sets. */
export type KnownHooks = {
  /** Entities by their names in the form of `nameKey`; may include other owners' or inactive ones. */
  readonly entities: (place: Place, names: readonly string[]) => sql.Steps<readonly Ref[]>;
  /** Claims about subjects that may concern one of the values; may include inactive ones. */
  readonly claims: (
    place: Place,
    subjects: readonly Ref[],
    values: readonly string[],
  ) => sql.Steps<readonly Ref[]>;
};

const IS_KNOWN = sql.statement("SELECT 1 FROM owners WHERE owner = $1::bigint");

/** An owner's memories in a scope that a plan may need, in one snapshot. */
export function* knownMemories(lookup: KnownLookup, hooks: KnownHooks): sql.Steps<KnownMemories> {
  const { userId, scope } = lookup.event;
  const owner = yield* sql.ownerKey(userId);
  if (owner === undefined || (yield* sql.get(IS_KNOWN, owner)) === undefined) return NOTHING_KNOWN;
  const place = { owner, scope };
  const names = new Set((yield* readOwnerNames(userId)).map((name) => name.userId));
  const self = yield* ownerReference(place, names);
  const named = yield* readNodes(place, "end", yield* hooks.entities(place, lookup.names));
  const entities = named.filter(({ node }) => isKnownEntity(node));
  const subjects = [...entities, ...(self === undefined ? [] : [self])].map(({ ref }) => ref);
  const shown = yield* readNodes(place, "id", lookup.shownIds);
  return {
    entities: entities.map(({ node }) => node).sort((a, b) => compareUnits(a.id, b.id)),
    claims: yield* readClaims(place, yield* hooks.claims(place, subjects, lookup.values)),
    owner: self?.node,
    ownerNames: names,
    shown: new Map(shown.map(({ node }) => [node.id, node])),
  };
}

type Found = { readonly ref: Ref; readonly node: MemoryNode };

/** The node that represents the owner, under the newest of the owner's names that has one. */
function* ownerReference(place: Place, names: ReadonlySet<string>): sql.Steps<Found | undefined> {
  const ids = [...names].map((name) => ownerReferenceId(name, place.scope));
  const found = yield* readNodes(place, "id", ids);
  return ids.flatMap((id) => found.find(({ node }) => node.id === id) ?? [])[0];
}

/** The active claims among some nodes. */
function* readClaims(place: Place, refs: readonly Ref[]): sql.Steps<readonly KnownClaim[]> {
  const claims = (yield* readNodes(place, "end", refs)).filter(({ node }) =>
    isActive(node.lifecycleState),
  );
  const found = claims.map(({ ref }) => ref);
  const subjects = yield* farEnds(place, found, "has_fact", FAR_SOURCES);
  const objects = yield* farEnds(place, found, "mentions", FAR_TARGETS);
  return claims.map(({ ref, node }) => ({
    node,
    subjectIds: subjects.get(ref) ?? [],
    objectIds: objects.get(ref) ?? [],
  }));
}

const farText = (here: string, there: string): sql.Text =>
  sql.statement(({ isOwnerInKeys }) =>
    isOwnerInKeys
      ? `SELECT e.${here} AS near, e.${there} AS far FROM edges e
         WHERE e.owner = $1::bigint AND e.edge_type = $3 AND e.${here} = ANY ($2::uuid[]) ORDER BY e.created_at, e.id`
      : `SELECT e.${here} AS near, n.id AS far FROM json_each($2) k CROSS JOIN edges e ON e.${here} = k.value
         AND e.edge_type = $3 CROSS JOIN nodes n ON n.key = e.${there} ORDER BY e.key`,
  );
const FAR_SOURCES = farText("target", "source");
const FAR_TARGETS = farText("source", "target");

/** The other ends of the edges of one type at the nodes, by node. */
function* farEnds(
  { owner }: Place,
  refs: readonly Ref[],
  edgeType: EdgeType,
  text: sql.Text,
): sql.Steps<ReadonlyMap<Ref, readonly Uuid[]>> {
  if (refs.length === 0) return new Map();
  const rows = yield* sql.all<{ near: Ref; far: Uuid }>(text, owner, refs, edgeType);
  const byNode = Map.groupBy(rows, ({ near }) => near);
  return new Map(Array.from(byNode, ([ref, ends]) => [ref, ends.map(({ far }) => far)]));
}

const nodesBy = (by: "id" | "end"): sql.Text =>
  sql.statement((d) => {
    const column = by === "id" ? "id" : d.end;
    return `${fromNodes(d)} WHERE ${d.free("n.owner")} = $1::bigint AND n.scope = $2
      AND n.${column} = ANY ($3::uuid[]) ORDER BY n.key`;
  });
const NODES = { id: nodesBy("id"), end: nodesBy("end") };

/** Nodes in any state, in the order of writing. */
function* readNodes(
  { owner, scope }: Place,
  by: keyof typeof NODES,
  values: readonly Ref[],
): sql.Steps<readonly Found[]> {
  if (values.length === 0) return [];
  const { end } = yield* sql.dialect();
  const rows = yield* sql.all<NodeRow>(NODES[by], owner, scope, values);
  return rows.map((row) => ({ ref: row[end], node: toNode(row) }));
}
