import type { Database } from "bun:sqlite";
import type { EdgeType } from "../../../domain/enums.ts";
import {
  isKnownEntity,
  type KnownClaim,
  type KnownMemories,
  NOTHING_KNOWN,
  ownerReferenceId,
} from "../../../domain/extraction/plan/context.ts";
import { isActive } from "../../../domain/lifecycle.ts";
import { compareUnits } from "../../../lib/text.ts";
import { asUuid, type Uuid } from "../../../lib/uuid.ts";
import type { KeyedNode } from "../../../ports/store/search-index.ts";
import type { KnownLookup } from "../../../ports/store/work.ts";

import { readOwnerNames } from "../../sql/owner-names.ts";
import { NODE_COLUMNS, type NodeRow, toNode } from "../../sql/rows.ts";
import { run } from "../connection/run.ts";
import { ownerKey } from "../write/owners.ts";
import { claimsWithValue } from "./claim-values.ts";
import { entitiesNamed } from "./entity-names.ts";

/** Where memories are looked for. */
type Place = { readonly database: Database; readonly owner: number; readonly scope: string };

/** What of an owner's memories in a scope a plan may need, as of one moment. */
export function knownMemories(database: Database, lookup: KnownLookup): KnownMemories {
  return database.transaction(() => {
    const { userId, scope } = lookup.event;
    const owner = ownerKey(database, userId);
    if (owner === undefined) return NOTHING_KNOWN;
    const place = { database, owner, scope };
    const names = new Set(run(database, readOwnerNames(userId)).map((name) => name.userId));
    const self = ownerReference(place, names);
    const entities = readNodes(place, "key", entitiesNamed(database, lookup.names)).filter(
      ({ node }) => isKnownEntity(node),
    );
    const subjects = self === undefined ? entities : [...entities, self];
    return {
      entities: entities.map(({ node }) => node).sort((a, b) => compareUnits(a.id, b.id)),
      claims: readClaims(
        place,
        subjects.map(({ key }) => key),
        lookup.values,
      ),
      owner: self?.node,
      ownerNames: names,
      shown: new Map(readNodes(place, "id", lookup.shownIds).map(({ node }) => [node.id, node])),
    };
  })();
}

/** The node that stands for the owner, under the newest of the owner's names that has one. */
function ownerReference(place: Place, names: ReadonlySet<string>): KeyedNode<number> | undefined {
  const ids = [...names].map((name) => ownerReferenceId(name, place.scope));
  const found = readNodes(place, "id", ids);
  return ids.flatMap((id) => found.find(({ node }) => node.id === id) ?? [])[0];
}

/** The active claims about the subjects that one of the values may be about. */
function readClaims(
  place: Place,
  subjects: readonly number[],
  values: readonly string[],
): readonly KnownClaim[] {
  const { database } = place;
  const keys = claimsWithValue(database, subjects, values);
  const claims = readNodes(place, "key", keys).filter(({ node }) => isActive(node.lifecycleState));
  const found = claims.map(({ key }) => key);
  const subjectIds = farEnds(database, found, { edgeType: "has_fact", here: "target" });
  const objectIds = farEnds(database, found, { edgeType: "mentions", here: "source" });
  return claims.map(({ key, node }) => ({
    node,
    subjectIds: subjectIds.get(key) ?? [],
    objectIds: objectIds.get(key) ?? [],
  }));
}

/** The other ends of the edges of one type at the nodes, by node. */
function farEnds(
  database: Database,
  keys: readonly number[],
  { edgeType, here }: { readonly edgeType: EdgeType; readonly here: "source" | "target" },
): ReadonlyMap<number, readonly Uuid[]> {
  const there = here === "source" ? "target" : "source";
  const rows = database
    .query<{ near: number; id: string }, [string, string]>(
      `SELECT e.${here} AS near, n.id FROM json_each(?1) k CROSS JOIN edges e ON e.${here} = k.value AND e.edge_type = ?2
         CROSS JOIN nodes n ON n.key = e.${there} ORDER BY e.key`,
    )
    .all(JSON.stringify(keys), edgeType);
  const byNode = Map.groupBy(rows, ({ near }) => near);
  return new Map(Array.from(byNode, ([key, ends]) => [key, ends.map(({ id }) => asUuid(id))]));
}

/** Nodes of the place, in any state. */
function readNodes(
  { database, owner, scope }: Place,
  by: "id" | "key",
  values: readonly (string | number)[],
): readonly KeyedNode<number>[] {
  if (values.length === 0) return [];
  return database
    .query<NodeRow, [string, number, string]>(
      `SELECT ${NODE_COLUMNS} FROM json_each(?1) i CROSS JOIN nodes n ON n.${by} = i.value JOIN owners o ON o.owner = n.owner
       WHERE n.owner = ?2 AND n.scope = ?3`,
    )
    .all(JSON.stringify(values), owner, scope)
    .map((row) => ({ key: row.key, node: toNode(row) }));
}
