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
