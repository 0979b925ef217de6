import { forgetWalkPlaces } from "../../sql/organizing.ts";
import { requireManifest } from "../../sql/settings.ts";
import { run } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import { listText, readVector } from "../connection/values.ts";
import type { OwnerKey } from "../owner-key.ts";
import { rewriteDocuments } from "../search/rewrite-documents.ts";
import { putVectors } from "../search/write-vectors.ts";

/** Memories whose index entries are written at a time. */
const STEP = 500;

/** The new key of each memory of the owners $1 and $2. */
const RANKED = `(SELECT owner, id, key, row_number() OVER (ORDER BY created_at, id)::integer AS rank FROM nodes
  WHERE owner IN ($1::bigint, $2::bigint)) r`;

/**
 * Gives the memories of one owner to another who has some, with their entries in both indexes as if they had always been the
 * other's. Runs inside a write transaction of both.
 */
export async function joinMemories(sql: Sql, source: OwnerKey, target: OwnerKey): Promise<void> {
  const indexed = await sql.all<{ id: string; content_hash: string }>(
    `SELECT n.id, v.content_hash FROM vectors v JOIN nodes n ON n.owner = v.owner AND n.key = v.key
     WHERE v.owner = $1::bigint`,
    source,
  );
  await forgetEntries(sql, source, target);
  // Twice, so that no two have the same key in between.
  await sql.run(
    `UPDATE vectors v SET key = -r.rank FROM ${RANKED} WHERE v.owner = $2::bigint AND r.owner = v.owner AND r.key = v.key`,
    source,
    target,
  );
  await sql.run(
    `UPDATE vectors v SET key = -v.key, revision = o.version FROM owners o
     WHERE v.owner = $1::bigint AND o.owner = v.owner`,
    target,
  );
  await sql.run(
    `UPDATE nodes n SET owner = $2::bigint, key = -r.rank FROM ${RANKED} WHERE n.owner = r.owner AND n.id = r.id`,
    source,
    target,
  );
  await sql.run("UPDATE nodes SET key = -key WHERE owner = $1::bigint", target);
  await sql.run("UPDATE edges SET owner = $2::bigint WHERE owner = $1::bigint", source, target);
  await sql.run(
    `UPDATE owners SET next_key = 1 + (SELECT count(*)::integer FROM nodes WHERE owner = $1::bigint)
     WHERE owner = $1::bigint`,
    target,
  );
  await run(sql, forgetWalkPlaces(source));
  await run(sql, forgetWalkPlaces(target));
  await writeEntries(sql, target, new Map(indexed.map((row) => [row.id, row.content_hash])));
}

/** Removes all that holds keys and is written again. */
async function forgetEntries(sql: Sql, source: OwnerKey, target: OwnerKey): Promise<void> {
  await sql.run("DELETE FROM vectors WHERE owner = $1::bigint", source);
  for (const table of ["vector_staging", "vector_parts", "lexical_documents", "lexical_postings"]) {
    await sql.run(`DELETE FROM ${table} WHERE owner IN ($1::bigint, $2::bigint)`, source, target);
  }
  await sql.run(
    `UPDATE owners SET lexical_documents = 0, lexical_words = 0 WHERE owner IN ($1::bigint, $2::bigint)`,
    source,
    target,
  );
}

/** @param hashes of the contents of the memories with a vector that came from the other owner, by id */
async function writeEntries(
  sql: Sql,
  owner: OwnerKey,
  hashes: ReadonlyMap<string, string>,
): Promise<void> {
  const { embedding } = await run(sql, requireManifest());
  const ids = [...hashes.keys()];
  for (let from = 0; from < ids.length; from += STEP) {
    const rows = await sql.all<{ id: string; key: number; own: Uint8Array }>(
      `SELECT id, key, vector_send(embedding) AS own FROM nodes
       WHERE owner = $1::bigint AND id = ANY ($2::uuid[]) AND embedding IS NOT NULL`,
      owner,
      listText(ids.slice(from, from + STEP)),
    );
    const entries = rows.map(({ id, key, own }) => {
      return { key, vector: readVector(own), contentHash: hashes.get(id) ?? "" };
    });
    await putVectors(sql, owner, entries, embedding);
  }
  for (let after = 0, hasMore = true; hasMore; ) {
    ({ cursor: after, hasMore } = await rewriteDocuments(sql, owner, { after, limit: STEP }));
  }
}
