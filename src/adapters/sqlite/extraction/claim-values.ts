import type { Database } from "bun:sqlite";
import { formsOf, mayMean, type ValueForms } from "../../../domain/extraction/plan/claims.ts";
import { ask } from "../connection/ask.ts";
import { ACTIVE } from "../write/turns.ts";

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
export function claimsWithValue(
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
  const known = seen.claims.get(subject) ?? readClaims(database, seen, subject);
  seen.claims.delete(subject);
  seen.claims.set(subject, known);
  return known;
}

function readClaims(database: Database, seen: Values, subject: number): Valued[] {
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
