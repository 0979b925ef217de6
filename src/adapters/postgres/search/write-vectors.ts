import { modelRules } from "../../../domain/embedding-models.ts";
import { SvcError } from "../../../domain/errors.ts";
import { LEAN_REACH, lean, surroundings } from "../../../domain/search/turns.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import { ACTIVE } from "../../sql/conditions.ts";
import { requireManifest } from "../../sql/settings.ts";
import { readVector, writeVector } from "../connection/insert-many.ts";
import { run } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import type { OwnerKey } from "../owner-key.ts";
import {
  besides,
  IS_OF_CONVERSATION,
  IS_TURN,
  inOrder,
  isOfSame,
  type Placed,
  windowsOf,
} from "./word-changes.ts";

/*
 * An owner's vectors. A memory keeps the vector of its own text. Searches compare a separate table of active memories: for a turn of a
 * conversation, its vector mixed with those of adjacent turns, recomputed when one of these comes or goes. The result does not depend on
 * the order of arrival. Runs inside a transaction that holds the owner's lock.
 */

/** The vector of one node's own text. */
export type VectorEntry = {
  readonly key: number;
  readonly vector: Float32Array;
  /** SHA-256 of the node's content. */
  readonly contentHash: string;
};

/** The stored vector of a node `n`'s own text, as SQL: rounded for a turn or a retired node, as in a pack. */
export function asOwn(vector: string): string {
  return `CASE WHEN ${IS_OF_CONVERSATION} OR n.lifecycle_state NOT IN ${ACTIVE} THEN ${vector}::halfvec::vector ELSE ${vector} END`;
}

const PUT_OWN = `UPDATE nodes n SET embedding = ${asOwn("u.v::vector")} FROM unnest($2::integer[], $3::text[], $4::text[]) u (k, v, h)
  WHERE n.owner = $1::bigint AND n.key = u.k`;
const IS_ACTIVE = `n.lifecycle_state IN ${ACTIVE}`;
const RENEW = `ON CONFLICT (owner, key) DO UPDATE
    SET embedding = excluded.embedding, content_hash = excluded.content_hash, revision = excluded.revision`;
const REVISION = "(SELECT o.version FROM owners o WHERE o.owner = $1::bigint)";

/** For a node that is not a turn, searches compare the vector of its own text. */
const PUT_ALONE = `WITH own AS (${PUT_OWN} RETURNING n.key, n.embedding, n.scope, n.node_type, u.h, ${IS_ACTIVE} AS active)
  INSERT INTO vectors (owner, key, embedding, scope, node_type, content_hash, revision)
  SELECT $1::bigint, key, embedding, scope, node_type, h, ${REVISION} FROM own WHERE active ${RENEW}`;

/**
 * Writes the vectors of active nodes, and rewrites those of adjacent turns.
 * @param areAlone whether none of them is a turn, so that there are no neighbours
 */
export async function putVectors(
  sql: Sql,
  owner: OwnerKey,
  entries: readonly VectorEntry[],
  identity: EmbeddingIdentity,
  areAlone = false,
): Promise<void> {
  if (entries.length === 0) return;
  for (const { vector } of entries) requireDimension(vector, identity);
  const values = [
    owner,
    entries.map(({ key }) => key),
    entries.map(({ vector }) => writeVector(vector)),
    entries.map(({ contentHash }) => contentHash),
  ];
  if (areAlone) {
    await sql.run(PUT_ALONE, ...values);
    return;
  }
  const rows = await sql.all<{ key: number; active: boolean }>(
    `${PUT_OWN} RETURNING n.key, ${IS_ACTIVE} AS active`,
    ...values,
  );
  const written = new Set(rows.filter(({ active }) => active).map(({ key }) => key));
  const hashes = new Map(entries.map(({ key, contentHash }) => [key, contentHash]));
  const near = await readNear(sql, owner, [...written]);
  await writeIndexed(sql, owner, leaning(near, written, modelRules(identity.model).lean), hashes);
}

function requireDimension(vector: Float32Array, { dimension }: EmbeddingIdentity): void {
  if (vector.length === dimension) return;
  throw new SvcError(
    "storage_failed",
    `a vector has ${vector.length} numbers instead of ${dimension}`,
  );
}

async function removeVectors(sql: Sql, owner: OwnerKey, keys: readonly number[]): Promise<void> {
  const list = keys;
  for (const table of ["vectors", "vector_parts"]) {
    await sql.run(
      `DELETE FROM ${table} WHERE owner = $1::bigint AND key = ANY ($2::integer[])`,
      owner,
      list,
    );
  }
}

/**
 * Removes inactive nodes from the index. They keep the vectors of their own texts, for questions about earlier moments; those of adjacent
 * turns are recomputed.
 */
export async function evictVectors(
  sql: Sql,
  owner: OwnerKey,
  keys: readonly number[],
): Promise<void> {
  if (keys.length === 0) return;
  await removeVectors(sql, owner, keys);
  await sql.run(
    `UPDATE nodes n SET embedding = ${asOwn("n.embedding")} WHERE n.owner = $1::bigint AND n.key = ANY ($2::integer[])
       AND n.embedding IS NOT NULL AND NOT ${IS_OF_CONVERSATION}`,
    owner,
    keys,
  );
  await leanAgain(sql, owner, keys);
}

/** Recomputes the mixed vectors of all turns of an owner from their present neighbours. @param step nodes at a time */
export async function leanAll(sql: Sql, owner: OwnerKey, step = 500): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await sql.all<{ key: number }>(
      `SELECT n.key FROM nodes n WHERE n.owner = $1::bigint AND n.key > $2 AND ${WITH_VECTOR} ORDER BY n.key LIMIT $3`,
      owner,
      after,
      step,
    );
    if (rows.length === 0) return;
    await leanAgain(
      sql,
      owner,
      rows.map(({ key }) => key),
    );
    after = rows.at(-1)?.key ?? after;
  }
}

async function leanAgain(sql: Sql, owner: OwnerKey, keys: readonly number[]): Promise<void> {
  const near = await readNear(sql, owner, keys);
  if (!near.some(({ is_turn }) => is_turn)) return;
  const { embedding } = await run(sql, requireManifest());
  const indexed = leaning(near, new Set(keys), modelRules(embedding.model).lean);
  // The others are retired, or have not changed.
  const turns = indexed.filter(({ leaning }) => leaning !== undefined);
  await writeIndexed(sql, owner, turns, new Map());
}

/** A turn without a vector yet is not a neighbour: the index depends only on existing vectors. */
const WITH_VECTOR = `(${IS_TURN} AND n.embedding IS NOT NULL)`;

type Near = Placed & {
  readonly is_of_conversation: boolean;
  /** Whether it is a turn with a vector. */
  readonly is_turn: boolean;
  /** The vector of its own text, as `vector_send` gives it; null without one. */
  readonly own: Uint8Array | null;
};

const NEAR = `WITH ${windowsOf(2 * LEAN_REACH, WITH_VECTOR)}
  SELECT n.key, n.session_id, n.scope, n.created_at, n.id::text AS id, ${IS_OF_CONVERSATION} AS is_of_conversation,
    ${WITH_VECTOR} AS is_turn, vector_send(n.embedding) AS own
  FROM windows w JOIN nodes n ON n.owner = $1::bigint AND n.key = w.key`;

/** The nodes, and the turns with vectors near them. */
async function readNear(
  sql: Sql,
  owner: OwnerKey,
  keys: readonly number[],
): Promise<readonly Near[]> {
  return keys.length === 0 ? [] : await sql.all<Near>(NEAR, owner, keys);
}

/** The vector that searches compare; undefined: that of the node's own text. */
type Indexed = { readonly key: number; readonly leaning: Float32Array | undefined };

/** The index content for written nodes, and for turns adjacent to written or retired ones. */
function leaning(
  near: readonly Near[],
  changed: ReadonlySet<number>,
  weight: number,
): readonly Indexed[] {
  const turns = inOrder(near.filter(({ is_turn }) => is_turn));
  const order = inOrder(
    near.filter((node) => node.is_turn || (node.is_of_conversation && changed.has(node.key))),
  );
  const touched = besides(order, changed, LEAN_REACH, ({ is_turn }) => is_turn);
  const owns = new Map<number, Float32Array>();
  const ownOf = (node: Near): Float32Array => {
    const known = owns.get(node.key);
    if (known !== undefined) return known;
    const own = readVector(node.own ?? new Uint8Array(0));
    owns.set(node.key, own);
    return own;
  };
  const alone = near
    .filter((node) => changed.has(node.key) && !node.is_turn && node.own !== null)
    .map(({ key }) => ({ key, leaning: undefined }));
  const leaningOnes = Array.from(surroundings(turns, LEAN_REACH, isOfSame)).flatMap(
    ({ turn, before, after }): readonly Indexed[] => {
      if (!changed.has(turn.key) && !touched.has(turn.key)) return [];
      const beside = [before[0], after[0]].map((other) => other && ownOf(other));
      return [{ key: turn.key, leaning: lean(ownOf(turn), beside, weight) }];
    },
  );
  return [...alone, ...leaningOnes];
}

const PUT_INDEXED = `INSERT INTO vectors (owner, key, embedding, scope, node_type, content_hash, revision)
  SELECT $1::bigint, n.key, coalesce(u.v::vector, n.embedding), n.scope, n.node_type,
    coalesce(u.h, v.content_hash, ''), ${REVISION}
  FROM unnest($2::integer[], $3::text[], $4::text[]) u (k, v, h)
    JOIN nodes n ON n.owner = $1::bigint AND n.key = u.k
    LEFT JOIN vectors v ON v.owner = $1::bigint AND v.key = u.k
  ${RENEW}`;

/** @param hashes of the contents of nodes with a new own vector */
async function writeIndexed(
  sql: Sql,
  owner: OwnerKey,
  indexed: readonly Indexed[],
  hashes: ReadonlyMap<number, string>,
): Promise<void> {
  if (indexed.length === 0) return;
  await sql.run(
    PUT_INDEXED,
    owner,
    indexed.map(({ key }) => key),
    indexed.map(({ leaning }) => (leaning === undefined ? null : writeVector(leaning))),
    indexed.map(({ key }) => hashes.get(key) ?? null),
  );
}
