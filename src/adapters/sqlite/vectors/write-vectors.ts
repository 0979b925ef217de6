import type { Database } from "bun:sqlite";
import { SvcError } from "../../../domain/errors.ts";
import {
  LEAN_REACH,
  type Surrounded,
  surroundings,
  TURN_TYPE,
  toPayload,
} from "../../../domain/search/turns.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import {
  ACTIVE,
  HAS_TEXT,
  IS_TURN,
  isOfConversation,
  isOfSame,
  surround,
  surroundAll,
  type Turn,
  turnsAround,
} from "../write/turns.ts";
import { removeCodes, updateCodes } from "./codes.ts";
import { floatsOf, mixing } from "./exact.ts";
import { removeParts } from "./parts.ts";

/** A turn without a vector yet is not a neighbour: the index depends only on existing vectors. */
const WITH_VECTOR = `${IS_TURN} AND key IN (SELECT node_key FROM vectors)`;
/** The neighbours mixed into a turn's vector. */
const AROUND = { reach: LEAN_REACH, among: WITH_VECTOR } as const;

/** The vector of one node's own text. */
export type VectorEntry = {
  readonly key: number;
  readonly vector: Float32Array;
  /** SHA-256 of the node's content. */
  readonly contentHash: string;
};

/**
 * The number of a transaction's changes. Processes with vectors in memory look for numbers above those they have read. Runs inside a write
 * transaction.
 */
function nextRevision(database: Database): number {
  const row = database
    .query<{ value: number }, []>("UPDATE vector_revision SET value = value + 1 RETURNING value")
    .get();
  return row?.value ?? 0;
}

/**
 * Writes the vectors of nodes; those of inactive ones are kept and not searched. Turn vectors are mixed with those of adjacent turns, whose
 * rows are noted too; the result does not depend on the order of arrival. Runs inside a write transaction.
 * @throws SvcError storage_failed if a vector has another dimension
 */
export function putVectors(database: Database, entries: readonly VectorEntry[]): void {
  if (entries.length === 0) return;
  const { dimension } = mixing(database);
  if (entries.some(({ vector }) => vector.length !== dimension)) {
    throw new SvcError("storage_failed", `a vector does not have ${dimension} numbers`);
  }
  const revision = nextRevision(database);
  const searched = entries.filter((entry) => putVector(database, entry, revision));
  leanAround(
    database,
    searched.map(({ key }) => key),
    revision,
  );
}

const HASH_BYTES = 16;
const IS_FULL = `lifecycle_state IN ${ACTIVE} AND NOT (node_type = '${TURN_TYPE}' AND session_id IS NOT NULL)`;

/** The part of a SHA-256 that is kept: with all of it, a page would have room for nine vectors in place of ten. */
function hashBytes(contentHash: string): Uint8Array {
  return Buffer.from(contentHash, "hex").subarray(0, HASH_BYTES);
}

/** @returns whether it is searched from now on */
function putVector(
  database: Database,
  { key, vector, contentHash }: VectorEntry,
  revision: number,
): boolean {
  const row = database
    .query<{ revision: number | null }, [number, number, Uint8Array, Float32Array, Uint8Array]>(
      // Neighbours as wide as those that follow: a row that grows splits its page.
      `INSERT OR REPLACE INTO vectors (node_key, owner, revision, previous, next, content_hash, embedding)
       SELECT key, owner, iif(lifecycle_state IN ${ACTIVE}, ?2, NULL), iif(${IS_FULL}, NULL, key),
         iif(${IS_FULL}, NULL, key), ?3, iif(${IS_FULL}, ?4, ?5)
       FROM nodes WHERE key = ?1 AND ${HAS_TEXT} RETURNING revision`,
    )
    .get(key, revision, hashBytes(contentHash), vector, toPayload(vector));
  return row !== null && row.revision !== null;
}

/** Notes the neighbours of turns, and themselves with their neighbours, once all own vectors exist. */
function leanAround(database: Database, keys: readonly number[], revision: number): void {
  const changed = new Set(keys);
  for (const place of surroundAll(database, keys, AROUND).values()) {
    if (isOfConversation(place.turn) && leanOne(database, place, revision)) {
      changed.add(place.turn.key);
    }
  }
  updateCodes(database, [...changed]);
}

/** Puts the vectors of an owner's nodes where another owner's are. Runs inside a write transaction, after the nodes have moved. */
export function moveVectors(database: Database, keys: readonly number[], into: number): void {
  removeCodes(database, keys);
  removeParts(database, keys);
  const revision = nextRevision(database);
  const moved = database
    .query<{ key: number; revision: number | null }, [number, number, string]>(
      `UPDATE vectors SET owner = ?, revision = iif(revision IS NULL, NULL, ?)
       WHERE node_key IN (SELECT value FROM json_each(?)) RETURNING node_key AS key, revision`,
    )
    .all(into, revision, JSON.stringify(keys));
  const searched = moved.filter((row) => row.revision !== null).map(({ key }) => key);
  leanAround(database, searched, revision);
}

/** Keeps vectors without searching them. Runs inside a write transaction, before `leanAll`. */
export function retireVectors(database: Database, keys: readonly number[]): void {
  const list = JSON.stringify(keys);
  const { dimension } = mixing(database);
  const full = database
    .query<{ key: number; embedding: Uint8Array }, [string, number]>(
      `SELECT v.node_key AS key, v.embedding FROM json_each(?) k CROSS JOIN vectors v ON v.node_key = k.value
       WHERE length(v.embedding) = ?`,
    )
    .all(list, dimension * Float32Array.BYTES_PER_ELEMENT);
  const shorten = database.query("UPDATE vectors SET embedding = ? WHERE node_key = ?");
  for (const { key, embedding } of full) shorten.run(toPayload(floatsOf(embedding)), key);
  removeCodes(database, keys);
  database
    .query(
      `UPDATE vectors SET revision = NULL, previous = NULL, next = NULL
       WHERE node_key IN (SELECT value FROM json_each(?))`,
    )
    .run(list);
  removeParts(database, keys);
}

/**
 * Removes inactive nodes from the index, keeping the vectors of their own texts for questions about earlier moments; adjacent turns are
 * noted anew. Runs inside a write transaction.
 */
export function evictVectors(database: Database, gone: readonly Turn[]): void {
  const keys = gone.map(({ key }) => key);
  const withVector = new Set(
    database
      .query<{ key: number }, [string]>(
        "SELECT v.node_key AS key FROM json_each(?) k CROSS JOIN vectors v ON v.node_key = k.value",
      )
      .all(JSON.stringify(keys))
      .map(({ key }) => key),
  );
  retireVectors(database, keys);
  const towards = gone.filter(({ key }) => withVector.has(key));
  const turns = turnsAround(database, towards, AROUND);
  if (turns.length === 0) return;
  const revision = nextRevision(database);
  for (const turn of turns) leanOne(database, surround(database, turn, AROUND), revision);
  updateCodes(
    database,
    turns.map(({ key }) => key),
  );
}

type Session = Pick<Turn, "key" | "owner" | "session_id" | "scope">;

/** Notes the present neighbours of all turns that have others. Runs inside a write transaction, before all codes are made. */
export function leanAll(database: Database): void {
  const revision = nextRevision(database);
  const turns = database
    .query<Session, []>(
      `SELECT key, owner, session_id, scope FROM nodes WHERE ${WITH_VECTOR}
       ORDER BY owner, session_id, scope, created_at, id`,
    )
    .all();
  for (const place of surroundings(turns, LEAN_REACH, isOfSame)) {
    leanOne(database, place, revision, "AND (previous IS NOT ?1 OR next IS NOT ?2)");
  }
}

/** Notes the neighbours of a turn, if its vector is searched. @returns whether it was changed */
function leanOne(
  database: Database,
  { turn, before, after }: Surrounded<Session>,
  revision: number,
  unless = "",
): boolean {
  const { changes } = database
    .query(
      `UPDATE vectors SET previous = ?1, next = ?2, revision = ?3
       WHERE node_key = ?4 AND revision IS NOT NULL ${unless}`,
    )
    .run(before[0]?.key ?? null, after[0]?.key ?? null, revision, turn.key);
  return changes > 0;
}

/** Puts the staged vectors of a model in place of all others. Runs inside a write transaction, before `leanAll`. */
export function putStaged(
  database: Database,
  { model, version, dimension }: EmbeddingIdentity,
): void {
  for (const table of ["vectors", "vector_parts", "vector_codes"]) {
    database.run(`DELETE FROM ${table}`);
  }
  database
    .query("UPDATE vector_model SET model = ?, version = ?, dimension = ?")
    .run(model, version, dimension);
  const revision = nextRevision(database);
  const staged = database.prepare<StagedRow, [string, string, number]>(
    `SELECT node_key AS key, content_hash AS contentHash, embedding FROM vector_staging
     WHERE model = ? AND version = ? AND dimension = ? ORDER BY node_key`,
  );
  try {
    for (const { embedding, ...row } of staged.iterate(model, version, dimension)) {
      putVector(database, { ...row, vector: floatsOf(embedding) }, revision);
    }
  } finally {
    staged.finalize();
  }
  database.run("DELETE FROM vector_staging");
}

type StagedRow = Omit<VectorEntry, "vector"> & { readonly embedding: Uint8Array };

/** Removes vectors of nodes without text, and of nodes that are gone. Runs inside a write transaction. */
export function removeStrayVectors(database: Database): void {
  retireVectors(
    database,
    database
      .query<{ key: number }, []>(
        `SELECT node_key AS key FROM vectors WHERE revision IS NOT NULL
         EXCEPT SELECT key FROM nodes WHERE lifecycle_state IN ${ACTIVE} AND ${HAS_TEXT}`,
      )
      .all()
      .map(({ key }) => key),
  );
  database.run(
    `DELETE FROM vectors WHERE node_key NOT IN (SELECT key FROM nodes WHERE ${HAS_TEXT})`,
  );
}
