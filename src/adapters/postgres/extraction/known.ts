import type { EdgeType } from "../../../domain/enums.ts";
import { formsOf, mayMean } from "../../../domain/extraction/plan/claims.ts";
import {
  isKnownEntity,
  type KnownClaim,
  type KnownMemories,
  NOTHING_KNOWN,
  nameKey,
  ownerReferenceId,
} from "../../../domain/extraction/plan/context.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { compareUnits } from "../../../lib/text.ts";
import type { Uuid } from "../../../lib/uuid.ts";

import type { KnownLookup } from "../../../ports/store/work.ts";
import { ACTIVE } from "../../sql/conditions.ts";
import { readOwnerNames } from "../../sql/owner-names.ts";
import { FROM_NODES, type NodeRow, toNode } from "../../sql/rows.ts";
import { run } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import { type OwnerKey, ownerKey } from "../owner-key.ts";

/** Where memories are looked for. */
type Place = { readonly sql: Sql; readonly owner: OwnerKey; readonly scope: string };

/** What of an owner's memories in a scope a plan may need, as of one moment. Runs in a snapshot. */
export async function knownMemories(sql: Sql, lookup: KnownLookup): Promise<KnownMemories> {
  const { userId, scope } = lookup.event;
  const owner = ownerKey(userId);
  if ((await sql.get("SELECT 1 FROM owners WHERE owner = $1::bigint", owner)) === undefined) {
    return NOTHING_KNOWN;
  }
  const place = { sql, owner, scope };
  const names = new Set((await run(sql, readOwnerNames(userId))).map((name) => name.userId));
  const self = await ownerReference(place, names);
  const named = await readNodes(place, await entitiesNamed(place, lookup.names));
  const entities = named.filter(isKnownEntity);
  const subjects = [...entities, ...(self === undefined ? [] : [self])].map(({ id }) => id);
  const shown = await readNodes(place, lookup.shownIds);
  return {
    entities: entities.toSorted((a, b) => compareUnits(a.id, b.id)),
    claims: await readClaims(place, subjects, lookup.values),
    owner: self,
    ownerNames: names,
    shown: new Map(shown.map((node) => [node.id, node])),
  };
}

/** The node that stands for the owner, under the newest of the owner's names that has one. */
async function ownerReference(
  place: Place,
  names: ReadonlySet<string>,
): Promise<MemoryNode | undefined> {
  const ids = [...names].map((name) => ownerReferenceId(name, place.scope));
  const found = await readNodes(place, ids);
  return ids.flatMap((id) => found.find((node) => node.id === id) ?? [])[0];
}

/**
 * Ids of active entities by their names in the form of `nameKey`. The database may fold case differently, so the names are compared
 * here.
 */
async function entitiesNamed(
  { sql, owner, scope }: Place,
  names: readonly string[],
): Promise<readonly Uuid[]> {
  if (names.length === 0) return [];
  const wanted = new Set(names);
  const rows = await sql.all<{ id: Uuid; content: string }>(
    `SELECT id, content FROM nodes
     WHERE owner = $1::bigint AND scope = $2 AND node_type = 'entity' AND lifecycle_state IN ${ACTIVE} ORDER BY key`,
    owner,
    scope,
  );
  return rows.filter(({ content }) => wanted.has(nameKey(content))).map(({ id }) => id);
}

/** The active claims about the subjects that one of the values may be about. */
async function readClaims(
  place: Place,
  subjects: readonly Uuid[],
  values: readonly string[],
): Promise<readonly KnownClaim[]> {
  const claims = await readNodes(place, await claimsWithValue(place, subjects, values));
  const ids = claims.map(({ id }) => id);
  const subjectIds = await farEnds(place, ids, { edgeType: "has_fact", here: "target" });
  const objectIds = await farEnds(place, ids, { edgeType: "mentions", here: "source" });
  return claims.map((node) => ({
    node,
    subjectIds: subjectIds.get(node.id) ?? [],
    objectIds: objectIds.get(node.id) ?? [],
  }));
}

/** Active claims about a subject that one of the values may be about. Only their values are read, since they may be many. */
async function claimsWithValue(
  { sql, owner }: Place,
  subjects: readonly Uuid[],
  values: readonly string[],
): Promise<readonly Uuid[]> {
  if (subjects.length === 0 || values.length === 0) return [];
  const sought = values.map(formsOf);
  const rows = await sql.all<{ id: Uuid; object: string | null }>(
    `SELECT DISTINCT n.id, n.metadata::json ->> 'object' AS object FROM edges f
       JOIN nodes n ON n.owner = f.owner AND n.id = f.target
     WHERE f.owner = $1::bigint AND f.edge_type = 'has_fact' AND f.source = ANY ($2::uuid[])
       AND n.lifecycle_state IN ${ACTIVE}`,
    owner,
    subjects,
  );
  return rows.filter(({ object }) => mayMean(formsOf(object ?? ""), sought)).map(({ id }) => id);
}

/** The other ends of the edges of one type at the nodes, by node. */
async function farEnds(
  { sql, owner }: Place,
  ids: readonly Uuid[],
  { edgeType, here }: { readonly edgeType: EdgeType; readonly here: "source" | "target" },
): Promise<ReadonlyMap<Uuid, readonly Uuid[]>> {
  if (ids.length === 0) return new Map();
  const there = here === "source" ? "target" : "source";
  const rows = await sql.all<{ near: Uuid; far: Uuid }>(
    `SELECT e.${here} AS near, e.${there} AS far FROM edges e
     WHERE e.owner = $1::bigint AND e.edge_type = $3 AND e.${here} = ANY ($2::uuid[]) ORDER BY e.created_at, e.id`,
    owner,
    ids,
    edgeType,
  );
  const byNode = Map.groupBy(rows, ({ near }) => near);
  return new Map(Array.from(byNode, ([id, ends]) => [id, ends.map(({ far }) => far)]));
}

/** Nodes of the place, in any state, in the order in which they were written. */
async function readNodes(
  { sql, owner, scope }: Place,
  ids: readonly Uuid[],
): Promise<readonly MemoryNode[]> {
  if (ids.length === 0) return [];
  const rows = await sql.all<NodeRow>(
    `${FROM_NODES} WHERE n.owner = $1::bigint AND n.scope = $2 AND n.id = ANY ($3::uuid[]) ORDER BY n.key`,
    owner,
    scope,
    ids,
  );
  return rows.map(toNode);
}
