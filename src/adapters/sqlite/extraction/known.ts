import type { Database } from "bun:sqlite";
import { formsOf, mayMean, type ValueForms } from "../../../domain/extraction/plan/claims.ts";
import { nameKey } from "../../../domain/extraction/plan/context.ts";
import type { KnownHooks } from "../../sql/known.ts";
import { ask } from "../connection/ask.ts";
import { native } from "../connection/run.ts";
import { ACTIVE } from "../write/turns.ts";

export const knownHooks: KnownHooks = {
  entities: (_place, names) => native((database) => entitiesNamed(database, names)),
  claims: (_place, subjects, values) =>
    native((database) => claimsWithValue(database, subjects.map(Number), values)),
};

/** The entity names seen by a connection. Names and keys never change; other properties are not cached. */
type Names = {
  /** Keys of nodes by name, ascending. */
  readonly keys: Map<string, number[]>;
  /** The key up to which nodes were read. */
  upTo: number;
};

const NAMES = new WeakMap<Database, Names>();

type EntityRow = { readonly key: number; readonly content: string };

/**
 * Keys of entities by name in the form of `nameKey`, of any owner, including inactive ones. SQLite cannot fold the case of all languages,
 * so the names are cached: read once, later only new ones. They are not cached by owner, who may change: the caller drops those of others.
 * That takes a microsecond each, next to a language model that takes a thousand times as long, so timing does not reveal other owners'
 * names.
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
  // The index covers active entities, the table recent writes.
  const from =
    after === 0
      ? `nodes INDEXED BY nodes_entities WHERE lifecycle_state IN ${ACTIVE} AND key > ?`
      : "nodes WHERE key > ?";
  return database
    .query<EntityRow, [number]>(`SELECT key, content FROM ${from} AND node_type = 'entity'`)
    .all(after);
}

/** Maximum claims of all subjects in memory; about 200 bytes each. */
const CLAIMS_MAX = 200_000;

type Valued = { readonly key: number; readonly forms: ValueForms };

/** The values of claims about some subjects, as seen by a connection. A claim's value and subjects never change. */
type Values = {
  /** By the subject's key; the most recently used one comes last. */
  readonly claims: Map<number, Valued[]>;
  /** The key up to which edges were read. */
  upTo: number;
  /** Claims of all subjects. */
  total: number;
};

const VALUES = new WeakMap<Database, Values>();

type ClaimRow = { readonly source: number; readonly key: number; readonly object: string | null };

const CLAIMS = `SELECT f.source, n.key, n.metadata ->> 'object' AS object FROM edges f CROSS JOIN nodes n ON n.key = f.target
  WHERE f.edge_type = 'has_fact' AND n.lifecycle_state IN ${ACTIVE}`;

/**
 * Keys of the claims about a subject that may concern one of the values, including inactive ones. An owner may have tens of thousands of
 * claims, whose metadata takes long to read: the values are read once, later only new ones. A subject belongs to one owner, and is only
 * requested for that owner.
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

/** Adds new claims to the cached subjects. */
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

/** Drops the least recently used subjects. */
function forgetMost(seen: Values): void {
  for (const [subject, { length }] of seen.claims) {
    if (seen.total <= CLAIMS_MAX) return;
    seen.claims.delete(subject);
    seen.total -= length;
  }
}
