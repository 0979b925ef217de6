import { isSameEmbedding } from "../../../domain/embedding-models.ts";
import { type ProcessingStatus, withoutVector } from "../../../domain/jobs.ts";
import { ALL_OWNERS } from "../../../domain/owner.ts";
import { isOfConversation } from "../../../domain/search/turns.ts";
import { sha256Hex } from "../../../lib/hashing.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import type { IndexedNode } from "../../../ports/store/search-index.ts";
import type { Materialization } from "../../../ports/store/work.ts";
import { readManifest, requireModel } from "../../sql/settings.ts";
import { run } from "../connection/run.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { writeNodes } from "../graph/write-nodes.ts";
import { type OwnerKey, ownerKey } from "../owner-key.ts";
import { writeDocuments } from "../search/write-documents.ts";
import { putVectors, type VectorEntry } from "../search/write-vectors.ts";
import { HAS_DOCUMENT } from "./indexed.ts";
import { type JobRow, lockJobs, ownersOfJobs, type Settled, settleJobs, toStatus } from "./jobs.ts";

/**
 * Writes nodes, index entries and job states, in one transaction for each owner. A complete job is left alone; an existing node is
 * kept; a node that is no longer active is not indexed.
 * @returns the states of the jobs afterwards, in the order of the items
 */
export async function materialize(
  database: Database,
  items: readonly Materialization[],
  identity: EmbeddingIdentity,
): Promise<readonly ProcessingStatus[]> {
  const states = new Map<Uuid, ProcessingStatus>();
  const write = async (userId: string, some: readonly Materialization[]): Promise<void> => {
    const done = await database.write(userId, (sql) =>
      materializeOf(sql, ownerKey(userId), some, identity),
    );
    for (const state of done) states.set(state.eventId, state);
  };
  const byOwner = Map.groupBy(items, ({ node }) => node.userId);
  for (const [userId, some] of byOwner) await write(userId, some);
  const missing = items.filter(({ eventId }) => !states.has(eventId));
  if (missing.length > 0) {
    // Events that do not exist, or that were given to another owner meanwhile.
    const ids = missing.map(({ eventId }) => eventId);
    const owners = await database.read(ALL_OWNERS, (sql) => ownersOfJobs(sql, ids));
    for (const [userId, of] of owners) {
      await write(
        userId,
        missing.filter(({ eventId }) => of.includes(eventId)),
      );
    }
  }
  return items.flatMap(({ eventId }) => states.get(eventId) ?? []);
}

type Open = { readonly item: Materialization; readonly job: JobRow };

/** Runs inside a write transaction of the owner. */
async function materializeOf(
  sql: Sql,
  owner: OwnerKey,
  given: readonly Materialization[],
  identity: EmbeddingIdentity,
): Promise<readonly ProcessingStatus[]> {
  const [manifest, rows] = await Promise.all([
    run(sql, readManifest()),
    lockJobs(
      sql,
      owner,
      given.map(({ eventId }) => eventId),
    ),
  ]);
  // Another process may have changed the model since these vectors were made.
  const isOfModel = isSameEmbedding(manifest?.embedding, identity);
  const items = isOfModel ? given : given.map(withoutVector);
  const jobs = new Map(rows.map((row) => [row.event_id, row]));
  const open = items.flatMap((item, place): Open[] => {
    const job = jobs.get(item.eventId);
    const isFirst = items.findIndex(({ eventId }) => eventId === item.eventId) === place;
    const isOpen =
      job?.status === "pending" &&
      (item.generation === undefined || item.generation === job.generation);
    return isFirst && isOpen ? [{ item, job }] : [];
  });
  const keys = await writeNodes(
    sql,
    owner,
    open.map(({ item }) => item.node),
  );
  const settled = open.map(
    ({ item, job }): Settled => ({
      subject: job.subject,
      attempts: job.attempts,
      failure: item.failure,
      at: item.at,
    }),
  );
  const indexed = open.flatMap(({ item }) => {
    const key = keys.get(item.node.id);
    return key === undefined ? [] : [{ ...item, key }];
  });
  await Promise.all([settleJobs(sql, owner, settled), writeEntries(sql, owner, indexed, identity)]);
  const done = new Map(open.map(({ item, job }) => [item.eventId, stateOf(item, job)]));
  return items.flatMap(({ eventId }) => {
    const job = jobs.get(eventId);
    return done.get(eventId) ?? (job === undefined ? [] : toStatus(job));
  });
}

function stateOf({ eventId, failure, at }: Materialization, job: JobRow): ProcessingStatus {
  const status = failure === undefined ? "complete" : "pending";
  return { eventId, status, attempts: job.attempts + 1, lastError: failure, updatedAt: at };
}

type Entry = Pick<Materialization, "node" | "vector" | "lexical"> & { readonly key: number };

async function writeEntries(
  sql: Sql,
  owner: OwnerKey,
  entries: readonly Entry[],
  identity: EmbeddingIdentity,
): Promise<void> {
  const vectors = entries.flatMap(({ key, node, vector }): VectorEntry[] =>
    vector === undefined ? [] : [{ key, vector, contentHash: sha256Hex(node.content) }],
  );
  const texts = entries.flatMap(({ key, lexical }) => (lexical ? [key] : []));
  const areAlone = !entries.some(({ node }) => isOfConversation(node));
  const [wordless] = await Promise.all([
    withoutDocument(sql, owner, texts),
    putVectors(sql, owner, vectors, identity, areAlone),
  ]);
  // Once all nodes exist: neighbours that arrive together are written once.
  await writeDocuments(sql, owner, wordless, areAlone);
}

/** Those of the nodes that have no lexical document yet; what others have was written with them, and with their neighbours. */
async function withoutDocument(
  sql: Sql,
  owner: OwnerKey,
  keys: readonly number[],
): Promise<readonly number[]> {
  if (keys.length === 0) return [];
  const rows = await sql.all<{ key: number }>(
    `SELECT n.key FROM nodes n WHERE n.owner = $1::bigint AND n.key = ANY ($2::integer[]) AND NOT ${HAS_DOCUMENT}`,
    owner,
    keys,
  );
  return rows.map(({ key }) => key);
}

/**
 * Writes nodes without a job, with their index entries. An existing node is kept; one that is no longer active is not indexed. Runs
 * inside a write transaction of their owners.
 * @throws SvcError embedding_mismatch if the vectors of the database are of another model
 */
export async function addNodes(
  sql: Sql,
  items: readonly IndexedNode[],
  identity: EmbeddingIdentity,
): Promise<void> {
  await run(sql, requireModel(identity));
  for (const [userId, some] of Map.groupBy(items, ({ node }) => node.userId)) {
    const owner = ownerKey(userId);
    const keys = await writeNodes(
      sql,
      owner,
      some.map(({ node }) => node),
    );
    const entries = some.flatMap(({ node, vector }): Entry[] => {
      const key = keys.get(node.id);
      return key === undefined ? [] : [{ key, node, vector, lexical: true }];
    });
    await writeEntries(sql, owner, entries, identity);
  }
}
