import type { Database } from "bun:sqlite";
import type { EdgeType } from "../../../domain/enums.ts";
import { formsOf, mayMean, type ValueForms } from "../../../domain/extraction/plan/claims.ts";
import {
  isKnownEntity,
  type KnownClaim,
  type KnownMemories,
  NOTHING_KNOWN,
  nameKey,
  ownerReferenceId,
} from "../../../domain/extraction/plan/context.ts";
import { isActive } from "../../../domain/lifecycle.ts";
import { compareUnits } from "../../../lib/text.ts";
import { asUuid, type Uuid } from "../../../lib/uuid.ts";
import type { KeyedNode } from "../../../ports/store/search-index.ts";
import type { KnownLookup } from "../../../ports/store/work.ts";
import { readOwnerNames } from "../../sql/owner-names.ts";
import { NODE_COLUMNS, type NodeRow, toNode } from "../../sql/rows.ts";
import { ask } from "../connection/ask.ts";
import { run } from "../connection/run.ts";
import { ownerKey } from "../write/owners.ts";
import { ACTIVE } from "../write/turns.ts";

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

/** The names of the entities that a connection has seen. Neither a name nor a key ever changes; what else does is not in here. */
type Names = {
  /** Keys of nodes by name, ascending. */
  readonly keys: Map<string, number[]>;
  /** Up to which key the nodes were read. */
  upTo: number;
};

const NAMES = new WeakMap<Database, Names>();

type EntityRow = { readonly key: number; readonly content: string };

/**
 * Keys of entities by their names in the form of `nameKey`, of any owner, some of them no longer active. SQLite cannot compare
 * letters of all languages in any case, so the names are kept in memory: read once, and later only the new ones. They are not kept by
 * owner, who may change: the caller drops those of others. That takes a microsecond each, before or after a language model that takes
 * a thousand times as long, so that nobody can tell whether others have a name.
 */
function entitiesNamed(database: Database, names: readonly string[]): readonly number[] {
  const known = NAMES.get(database);
  const seen = known ?? { keys: new Map<string, number[]>(), upTo: 0 };
  if (known === undefined) NAMES.set(database, seen);
  const upTo = ask<number>(database, "SELECT max(key) FROM nodes") ?? 0;
  if (upTo > seen.upTo) {
    for (const { key, content } of readEntities(database, seen.upTo)) {
      const name = nameKey(content);
      const keys = seen.keys.get(name);
      if (keys === undefined) seen.keys.set(name, [key]);
      else keys.push(key);
    }
    seen.upTo = upTo;
  }
  return names.flatMap((name) => seen.keys.get(name) ?? []);
}

function readEntities(database: Database, after: number): readonly EntityRow[] {
  // The index has all that is asked of active entities, the table what was written last.
  const from =
    after === 0
      ? `nodes INDEXED BY nodes_entities WHERE lifecycle_state IN ${ACTIVE} AND key > ?`
      : "nodes WHERE key > ?";
  return database
    .query<EntityRow, [number]>(`SELECT key, content FROM ${from} AND node_type = 'entity'`)
    .all(after);
}

/** Claims of all subjects that are kept in memory; about 200 bytes each. */
const CLAIMS_MAX = 200_000;

type Valued = { readonly key: number; readonly forms: ValueForms };

/** The values of the claims about some subjects, as a connection has seen them. A claim keeps its value and its subjects. */
type Values = {
  /** By the key of the subject; the one that was asked for last comes last. */
  readonly claims: Map<number, Valued[]>;
  /** Up to which key the edges were read. */
  upTo: number;
  /** Claims of all subjects. */
  total: number;
};

const VALUES = new WeakMap<Database, Values>();

type ClaimRow = { readonly source: number; readonly key: number; readonly object: string | null };

const CLAIMS = `SELECT f.source, n.key, n.metadata ->> 'object' AS object FROM edges f CROSS JOIN nodes n ON n.key = f.target
  WHERE f.edge_type = 'has_fact' AND n.lifecycle_state IN ${ACTIVE}`;

/**
 * Keys of the claims about a subject that one of the values may be about, some of them no longer active. An owner may have tens of
 * thousands of claims, whose metadata would take long to read each time: the values are read once, and later only the new ones.
 * A subject belongs to one owner, and nobody asks for those of others.
 */
function claimsWithValue(
  database: Database,
  subjects: readonly number[],
  values: readonly string[],
): readonly number[] {
  const seen = VALUES.get(database) ?? { claims: new Map<number, Valued[]>(), upTo: 0, total: 0 };
  VALUES.set(database, seen);
  readNew(database, seen);
  const sought = values.map(formsOf);
  const found = subjects.flatMap((subject) =>
    claimsAbout(database, seen, subject).filter(({ forms }) => mayMean(forms, sought)),
  );
  forgetMost(seen);
  return [...new Set(found.map(({ key }) => key))];
}

/** Adds what was written since to the subjects that are kept. */
function readNew(database: Database, seen: Values): void {
  const upTo = ask<number>(database, "SELECT max(key) FROM edges") ?? 0;
  if (seen.claims.size > 0 && upTo > seen.upTo) {
    const rows = database.query<ClaimRow, [number]>(`${CLAIMS} AND f.key > ?`).all(seen.upTo);
    for (const row of rows) {
      const known = seen.claims.get(row.source);
      if (known === undefined) continue;
      known.push(valued(row));
      seen.total += 1;
    }
  }
  seen.upTo = upTo;
}

function claimsAbout(database: Database, seen: Values, subject: number): readonly Valued[] {
  const known = seen.claims.get(subject) ?? readValues(database, seen, subject);
  seen.claims.delete(subject);
  seen.claims.set(subject, known);
  return known;
}

function readValues(database: Database, seen: Values, subject: number): Valued[] {
  const rows = database.query<ClaimRow, [number]>(`${CLAIMS} AND f.source = ?`).all(subject);
  seen.total += rows.length;
  return rows.map(valued);
}

function valued({ key, object }: ClaimRow): Valued {
  return { key, forms: formsOf(object ?? "") };
}

/** Drops the subjects that were not asked for the longest. */
function forgetMost(seen: Values): void {
  for (const [subject, { length }] of seen.claims) {
    if (seen.total <= CLAIMS_MAX) return;
    seen.claims.delete(subject);
    seen.total -= length;
  }
}
