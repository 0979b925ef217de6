import type { Database } from "bun:sqlite";
import { modelRules } from "../../../domain/embedding-models.ts";
import {
  fromPayload,
  LEAN_REACH,
  lean,
  type Surrounded,
  surroundings,
  toPayload,
} from "../../../domain/search/turns.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import {
  ACTIVE,
  HAS_TEXT,
  IS_TURN,
  isOfConversation,
  isOfSame,
  readTurn,
  surround,
  surroundAll,
  type Turn,
  turnsAround,
} from "../write/turns.ts";
import { codeLarge, putCode, removeCodes } from "./codes.ts";
import { removeParts } from "./parts.ts";

/** A turn without a vector yet is not a neighbour: the index depends only on existing vectors. */
const WITH_VECTOR = `${IS_TURN} AND key IN (SELECT node_key FROM vector_payloads)`;
/** The neighbours mixed into a turn's vector. */
const AROUND = { reach: LEAN_REACH, among: WITH_VECTOR } as const;

/** How turn vectors are mixed in one transaction. */
type Leaning = {
  /** See {@link nextRevision}. */
  readonly revision: number;
  /** Weight of a neighbour. */
  readonly weight: number;
};

/** The vector of one node's own text. */
export type VectorEntry = {
  readonly key: number;
  readonly vector: Float32Array;
  /** SHA-256 of the node's content. */
  readonly contentHash: string;
  readonly at: Instant;
};

/**
 * The number of a transaction's changes. Processes with vectors in memory look for numbers above those they have read. Runs inside a write
 * transaction.
 */
export function nextRevision(database: Database): number {
  const row = database
    .query<{ value: number }, []>("UPDATE vector_revision SET value = value + 1 RETURNING value")
    .get();
  return row?.value ?? 0;
}

/** Sets how turn vectors are mixed from now on, as the pack's model requires. Runs inside a write transaction. */
function beginLeaning(database: Database): Leaning {
  const row = database
    .query<{ model: string }, []>("SELECT embedding_model AS model FROM pack_manifest")
    .get();
  return { revision: nextRevision(database), weight: modelRules(row?.model).lean };
}

/**
 * Writes the vectors of active nodes. Turn vectors are mixed with those of adjacent turns, whose entries are rewritten too; the result does
 * not depend on the order of arrival. Runs inside a write transaction.
 */
export function putVectors(
  database: Database,
  entries: readonly VectorEntry[],
  identity: EmbeddingIdentity,
): void {
  if (entries.length === 0) return;
  const leaning = beginLeaning(database);
  const describe = database.query(
    `INSERT OR REPLACE INTO vector_metadata
       (node_key, embedding_model, embedding_version, content_hash, created_at, owner, revision)
     SELECT key, ?2, ?3, ?4, ?5, owner, ?6 FROM nodes WHERE key = ?1 AND lifecycle_state IN ${ACTIVE}`,
  );
  const own = new Map<number, Float32Array>();
  for (const { key, vector, contentHash, at } of entries) {
    const { changes } = describe.run(
      key,
      identity.model,
      identity.version,
      contentHash,
      at,
      leaning.revision,
    );
    if (changes > 0) own.set(key, vector);
    else writePayload(database, key, vector);
  }
  for (const [key, vector] of own) {
    const node = readTurn(database, key);
    if (node === undefined) continue;
    if (isOfConversation(node)) writePayload(database, key, vector);
    else {
      writeIndexed(database, node, vector);
      forgetPayloads(database, [key]);
    }
  }
  // Once all own vectors exist: neighbours that arrive together are written once.
  for (const place of surroundAll(database, own.keys(), AROUND).values()) {
    if (isOfConversation(place.turn)) leanOne(database, place, leaning);
  }
  codeLarge(database, [...own.keys()]);
}

/** Removes the searched vectors. Runs inside a write transaction, before `leanAll`. */
export function removeVectors(database: Database, keys: readonly number[]): void {
  const remove = database.query("DELETE FROM vectors WHERE node_key = ?");
  // Existing ones only: looking for a missing entry costs the index more than removing one.
  for (const key of amongKeys(database, keys, "vectors_rowids", "rowid")) remove.run(key);
  removeCodes(database, keys);
  database
    .query("DELETE FROM vector_metadata WHERE node_key IN (SELECT value FROM json_each(?))")
    .run(JSON.stringify(keys));
  removeParts(database, keys);
}

/** Removes the vectors that nodes keep of their own texts. Runs inside a write transaction. */
export function forgetPayloads(database: Database, keys: readonly number[]): void {
  database
    .query("DELETE FROM vector_payloads WHERE node_key IN (SELECT value FROM json_each(?))")
    .run(JSON.stringify(keys));
}

/** Those of some keys that exist in a table. */
function amongKeys(
  database: Database,
  keys: readonly number[],
  table: string,
  column: string,
): readonly number[] {
  return database
    .query<{ key: number }, [string]>(
      `SELECT t.${column} AS key FROM json_each(?) i CROSS JOIN ${table} t ON t.${column} = i.value`,
    )
    .all(JSON.stringify(keys))
    .map(({ key }) => key);
}

/**
 * Removes inactive nodes from the index, keeping the vectors of their own texts for questions about earlier moments; the vectors of
 * adjacent turns are recomputed. Runs inside a write transaction.
 */
export function evictVectors(database: Database, gone: readonly Turn[]): void {
  const keys = gone.map(({ key }) => key);
  const withOwn = new Set(amongKeys(database, keys, "vector_payloads", "node_key"));
  const towards = gone.filter(({ key }) => withOwn.has(key));
  adoptIndexed(
    database,
    amongKeys(database, keys, "vectors_rowids", "rowid").filter((key) => !withOwn.has(key)),
  );
  removeVectors(database, keys);
  const turns = turnsAround(database, towards, AROUND);
  if (turns.length === 0) return;
  const leaning = beginLeaning(database);
  for (const turn of turns) leanOne(database, surround(database, turn, AROUND), leaning);
}

type Session = Pick<Turn, "key" | "owner" | "session_id" | "scope">;

/**
 * Recomputes the mixed vectors of all turns from their present neighbours, skipping current ones. If only the indexed vector of a turn is
 * known, it is used as its own one. Runs inside a write transaction.
 */
export function leanAll(database: Database): void {
  const leaning = beginLeaning(database);
  adoptIndexed(database, turnsWithoutPayload(database));
  const turns = database
    .query<Session, []>(
      `SELECT key, owner, session_id, scope FROM nodes WHERE ${WITH_VECTOR}
       ORDER BY owner, session_id, scope, created_at, id`,
    )
    .all();
  for (const place of surroundings(turns, LEAN_REACH, isOfSame)) {
    leanOne(database, place, leaning, "unless it does already");
  }
}

function turnsWithoutPayload(database: Database): readonly number[] {
  return database
    .query<{ key: number }, []>(
      `SELECT key FROM nodes WHERE ${IS_TURN} AND key IN (SELECT node_key FROM vector_metadata)
         AND key NOT IN (SELECT node_key FROM vector_payloads)`,
    )
    .all()
    .map(({ key }) => key);
}

/** Copies indexed vectors as those of the nodes' own texts. */
function adoptIndexed(database: Database, keys: readonly number[]): void {
  const indexed = database.query<{ embedding: Uint8Array }, [number]>(
    "SELECT embedding FROM vectors WHERE node_key = ?",
  );
  for (const key of keys) {
    const found = indexed.get(key);
    if (found === null) continue;
    writePayload(database, key, new Float32Array(found.embedding.slice().buffer));
  }
}

type Payload = {
  readonly embedding: Uint8Array;
  readonly previous: number | null;
  readonly next: number | null;
};

/** Writes the indexed vector of a turn, if its own one is known. */
function leanOne(
  database: Database,
  place: Surrounded<Session>,
  { revision, weight }: Leaning,
  mode: "always" | "unless it does already" = "always",
): void {
  const { key } = place.turn;
  const payload = readPayload(database, key);
  if (payload === undefined) return;
  const previous = place.before[0]?.key ?? null;
  const next = place.after[0]?.key ?? null;
  const isDone = payload.previous === previous && payload.next === next;
  if (mode !== "always" && isDone && isIndexed(database, key)) return;
  const neighbours = [previous, next].map((beside) => {
    const found = beside === null ? undefined : readPayload(database, beside);
    return found && fromPayload(found.embedding);
  });
  writeIndexed(database, place.turn, lean(fromPayload(payload.embedding), neighbours, weight));
  database
    .query("UPDATE vector_payloads SET previous = ?, next = ? WHERE node_key = ?")
    .run(previous, next, key);
  database.query("UPDATE vector_metadata SET revision = ? WHERE node_key = ?").run(revision, key);
}

function readPayload(database: Database, key: number): Payload | undefined {
  return (
    database
      .query<Payload, [number]>(
        "SELECT embedding, previous, next FROM vector_payloads WHERE node_key = ?",
      )
      .get(key) ?? undefined
  );
}

/** Undefined if the node is gone. */
export function writePayload(database: Database, key: number, vector: Float32Array): void {
  database
    .query(
      `INSERT OR REPLACE INTO vector_payloads (node_key, previous, next, embedding)
       SELECT key, NULL, NULL, ?2 FROM nodes WHERE key = ?1 AND ${HAS_TEXT}`,
    )
    .run(key, toPayload(vector));
}

function isIndexed(database: Database, key: number): boolean {
  // Bypasses the index: looking for a missing entry costs the index more than writing one.
  return database.query("SELECT 1 FROM vectors_rowids WHERE rowid = ?").get(key) !== null;
}

function writeIndexed(
  database: Database,
  { key, owner }: Pick<Session, "key" | "owner">,
  vector: Float32Array,
): void {
  putCode(database, { owner, key }, vector);
  if (isIndexed(database, key)) {
    database.query("UPDATE vectors SET embedding = ? WHERE node_key = ?").run(vector, key);
    return;
  }
  database
    .query("INSERT INTO vectors (node_key, owner, active, embedding) VALUES (?, ?, 1, ?)")
    .run(key, owner, vector);
}

/** Removes leftovers of nodes without text, and of nodes that are gone. Runs inside a write transaction. */
export function removeStrayPayloads(database: Database): void {
  database.run(
    `DELETE FROM vector_payloads WHERE node_key NOT IN (SELECT key FROM nodes WHERE ${HAS_TEXT})`,
  );
}

/** Nodes with an entry that they must not have, by key. */
export function orphanVectors(database: Database): readonly number[] {
  return database
    .query<{ key: number }, []>(
      `SELECT node_key AS key FROM vector_metadata UNION SELECT rowid FROM vectors_rowids
       EXCEPT SELECT key FROM nodes WHERE lifecycle_state IN ${ACTIVE} AND ${HAS_TEXT}`,
    )
    .all()
    .map(({ key }) => key);
}
