import { ALL_OWNERS } from "../../../domain/owner.ts";
import { sha256Hex } from "../../../lib/hashing.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import type {
  IndexableNodes,
  IndexRebuild,
  NodeVector,
  RebuildPlan,
} from "../../../ports/store/search-index.ts";
import { COLUMNS } from "../../sql/columns.ts";
import { ACTIVE } from "../../sql/conditions.ts";
import {
  beginRun,
  endRun,
  noteProgress,
  type Rebuilder,
  type RebuildRun,
  renewRun,
  requireRun,
} from "../../sql/rebuild.ts";
import { FROM_NODES, type NodeRow, toNode } from "../../sql/rows.ts";
import { requireModel, writeEmbedding } from "../../sql/settings.ts";
import { timeOf } from "../../sql/work.ts";
import { insertMany, listText, writeVector } from "../connection/insert-many.ts";
import { run, run as runSteps } from "../connection/run.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { type OwnerKey, ownerKey } from "../owner-key.ts";
import type { Parts } from "../search/bind.ts";
import { rewriteDocuments } from "../search/rewrite-documents.ts";
import { HAS_TEXT } from "../search/word-changes.ts";
import { asOwn, evictVectors, leanAll, putVectors } from "../search/write-vectors.ts";

/** A node handed out under a number of this run: a key alone means nothing without its owner. */
type Handed = NodePlace & { readonly userId: string };

/** The rebuild of a database. */
export function createIndexRebuild(parts: Parts): IndexRebuild<number> {
  const { database, embedding, worker } = parts;
  const { read, writeAny } = database;
  let run: RebuildRun | undefined;
  const places: NodePlace[] = [BEFORE_ALL];
  const handed = new Map<number, Handed>();
  let numbers = 0;
  const hand = (node: Handed): number => {
    numbers += 1;
    handed.set(numbers, node);
    return numbers;
  };
  return {
    begin: async (all) => {
      places.splice(1);
      handed.clear();
      run = await writeAny((sql) => runSteps(sql, beginRun(parts, all)));
      return run.plan;
    },
    stale: (plan, after, limit) =>
      read(ALL_OWNERS, async (sql) => {
        await runSteps(sql, requireRun(run));
        const page = { after: places[after] ?? BEFORE_ALL, limit };
        const { rows, scanned, scannedTo, hasMore } = await findStale(
          sql,
          plan.vectors,
          embedding,
          page,
        );
        places.push(scannedTo);
        const nodes = rows.map((row) => {
          const place = { owner: row.owner, key: row.key, userId: row.user_id };
          return { key: hand(place), node: toNode(row) };
        });
        return { nodes, scanned, scannedTo: places.length - 1, hasMore };
      }),
    put: async (plan, entries) => {
      const placed = entries.flatMap(({ key, ...entry }) => {
        const place = handed.get(key);
        return place === undefined ? [] : [{ ...entry, ...place }];
      });
      await put(database, parts, run, plan, placed);
      for (const { key } of entries) handed.delete(key);
    },
    swap: (plan) =>
      plan.vectors === "repair"
        ? repair(database, parts, run)
        : writeAny((sql) => replace(sql, parts, run)),
    rewriteTexts: (limit, signal) => rewriteTexts(database, parts, run, { limit, signal }),
    end: (outcome) => writeAny((sql) => runSteps(sql, endRun(run, outcome, worker))),
    count: () => read(ALL_OWNERS, countIndexable),
  };
}

async function put(
  database: Database,
  { embedding, worker }: Rebuilder,
  run: RebuildRun | undefined,
  { vectors }: RebuildPlan,
  entries: readonly (PlacedVector & Handed)[],
): Promise<void> {
  if (vectors === "replace" || entries.length === 0) {
    await database.writeAny(async (sql) => {
      await runSteps(sql, renewRun(run, worker));
      await stageVectors(sql, entries, embedding);
    });
    return;
  }
  for (const [userId, some] of Map.groupBy(entries, (entry) => entry.userId)) {
    await database.write(userId, async (sql) => {
      await runSteps(sql, renewRun(run, worker));
      await runSteps(sql, requireModel(embedding));
      await putVectors(sql, ownerKey(userId), some, embedding);
    });
  }
}

/** Runs inside a transaction. */
async function replace(
  sql: Sql,
  { embedding, worker }: Rebuilder,
  run: RebuildRun | undefined,
): Promise<boolean> {
  // Every writer begins with its owner's row, so no writer is running, and none can start until the new vectors are in place.
  await sql.run("LOCK TABLE owners IN EXCLUSIVE MODE");
  await runSteps(sql, renewRun(run, worker));
  if (await isAnyStale(sql, "replace", embedding)) return false;
  await replaceVectors(sql, embedding, await runSteps(sql, timeOf(worker.clock)));
  await runSteps(sql, noteProgress({ replaces: false }));
  return true;
}

/** Owner by owner, since the vectors stay those of the same model. */
async function repair(
  database: Database,
  { embedding, worker }: Rebuilder,
  run: RebuildRun | undefined,
): Promise<boolean> {
  const isStale = await database.writeAny(async (sql) => {
    await runSteps(sql, renewRun(run, worker));
    return await isAnyStale(sql, "repair", embedding);
  });
  if (isStale) return false;
  for (let after: OwnerKey | undefined; ; ) {
    const next = await database.read(ALL_OWNERS, (sql) => ownerAfter(sql, after));
    if (next === undefined) return true;
    await database.write(next.user_id, async (sql) => {
      await runSteps(sql, renewRun(run, worker));
      await mendVectors(sql, next.owner);
    });
    after = next.owner;
  }
}

/** The next documents of one owner, or of following owners with few. */
async function rewriteTexts(
  database: Database,
  { worker }: Rebuilder,
  run: RebuildRun | undefined,
  { limit, signal }: { readonly limit: number; readonly signal: AbortSignal | undefined },
): Promise<{ readonly written: number; readonly hasMore: boolean }> {
  const { texts } = await database.read(ALL_OWNERS, (sql) => runSteps(sql, requireRun(run)));
  let { key } = texts;
  let owner = texts.owner === undefined ? undefined : String(texts.owner);
  let written = 0;
  while (written < limit) {
    const current = await database.read(ALL_OWNERS, (sql) =>
      key > 0 && owner !== undefined ? ownerAt(sql, owner) : ownerAfter(sql, owner),
    );
    if (current === undefined) return { written, hasMore: false };
    const step = await database.write(current.user_id, async (sql) => {
      await runSteps(sql, renewRun(run, worker));
      const some = { after: key, limit: limit - written, signal };
      const done = await rewriteDocuments(sql, current.owner, some);
      // 0: continue with the next owner.
      const next = { owner: current.owner, key: done.hasMore ? done.cursor : 0 };
      await runSteps(sql, noteProgress({ texts: next }));
      return { ...next, written: done.written };
    });
    ({ owner, key } = step);
    written += step.written;
    // Its texts are long.
    if (key > 0) break;
  }
  return { written, hasMore: true };
}

async function ownerAt(sql: Sql, owner: OwnerKey): Promise<OwnerRow | undefined> {
  return await sql.get<OwnerRow>(
    "SELECT owner, user_id FROM owners WHERE owner = $1::bigint",
    owner,
  );
}

async function countIndexable(sql: Sql): Promise<IndexableNodes> {
  const row = await sql.get<IndexableNodes>(
    `SELECT count(*)::float8 AS total, (count(*) FILTER (WHERE NOT (${HAS_TEXT})))::float8 AS blank
     FROM nodes n WHERE n.lifecycle_state IN ${ACTIVE}`,
  );
  return row ?? { total: 0, blank: 0 };
}

type OwnerRow = { readonly owner: OwnerKey; readonly user_id: string };

/** The owner with the next higher number. @param owner undefined: the first one */
async function ownerAfter(sql: Sql, owner: OwnerKey | undefined): Promise<OwnerRow | undefined> {
  return await sql.get<OwnerRow>(
    `SELECT owner, user_id FROM owners WHERE $1::bigint IS NULL OR owner > $1::bigint
     ORDER BY owner LIMIT 1`,
    owner ?? null,
  );
}

/** Maximum nodes examined in one step, so that it ends soon even if nothing is stale. */
const SCAN_MAX = 5000;

/** A node among those of all owners. */
type NodePlace = { readonly owner: OwnerKey; readonly key: number };
const BEFORE_ALL: NodePlace = { owner: "-9223372036854775808", key: 0 };

/** Whether `s` has the vector of the wanted model of a node `n`, in each target, as SQL. */
const TARGET: Readonly<Record<RebuildPlan["vectors"], string>> = {
  replace:
    "vector_staging s ON s.owner = n.owner AND s.key = n.key AND s.model = $4 AND s.version = $5 AND s.dimension = $6",
  repair:
    "vectors s ON s.owner = n.owner AND s.key = n.key AND ($4::text, $5::text, $6::integer) IS NOT NULL",
};

type StaleRows = {
  readonly rows: readonly OwnedRow[];
  readonly scanned: number;
  readonly scannedTo: NodePlace;
  readonly hasMore: boolean;
};

type Scanned = NodePlace & { readonly hash: string | null; readonly differs: boolean };

/** Nodes with text whose vector of this model is missing or was made from another text. */
async function findStale(
  sql: Sql,
  target: RebuildPlan["vectors"],
  { model, version, dimension }: EmbeddingIdentity,
  { after, limit }: { readonly after: NodePlace; readonly limit: number },
): Promise<StaleRows> {
  const seen = await sql.all<Scanned>(
    `SELECT n.owner, n.key, s.content_hash AS hash,
       CASE WHEN n.lifecycle_state NOT IN ${ACTIVE} AND s.owner IS NULL AND $7 THEN n.embedding IS NULL
         ELSE s.content_hash IS DISTINCT FROM encode(sha256(convert_to(n.content, 'UTF8')), 'hex') END AS differs
     FROM nodes n LEFT JOIN ${TARGET[target]}
     WHERE (n.owner, n.key) > ($1::bigint, $2::integer) AND ${HAS_TEXT}
     ORDER BY n.owner, n.key LIMIT $3`,
    ...[after.owner, after.key, SCAN_MAX, model, version, dimension, target === "repair"],
  );
  const stale = seen.filter(({ differs }) => differs).slice(0, limit);
  const last = stale.length === limit ? stale.at(-1) : seen.at(-1);
  const scanned = last === undefined ? 0 : seen.indexOf(last) + 1;
  const hashes = new Map(stale.map((place) => [textOf(place), place.hash]));
  const rows = await readPlaces(sql, stale);
  return {
    // A text may be stored in another form.
    rows: rows.filter((row) => hashes.get(textOf(row)) !== sha256Hex(row.content)),
    scanned,
    scannedTo: last ?? after,
    hasMore: stale.length === limit || seen.length === SCAN_MAX,
  };
}

function textOf({ owner, key }: NodePlace): string {
  return `${owner} ${key}`;
}

type OwnedRow = NodeRow & { readonly owner: OwnerKey };

async function readPlaces(sql: Sql, places: readonly NodePlace[]): Promise<readonly OwnedRow[]> {
  if (places.length === 0) return [];
  return await sql.all<OwnedRow>(
    `${FROM_NODES} JOIN unnest($1::bigint[], $2::integer[]) p (owner, key) ON p.owner = n.owner AND p.key = n.key
     ORDER BY n.owner, n.key`,
    listText(places.map(({ owner }) => owner)),
    listText(places.map(({ key }) => key)),
  );
}

/** Whether any node with text lacks a current vector of this model. */
async function isAnyStale(
  sql: Sql,
  target: RebuildPlan["vectors"],
  identity: EmbeddingIdentity,
): Promise<boolean> {
  for (let after = BEFORE_ALL; ; ) {
    const found = await findStale(sql, target, identity, { after, limit: 1 });
    if (found.rows.length > 0) return true;
    if (!found.hasMore) return false;
    after = found.scannedTo;
  }
}

/** The vector of a node. */
type PlacedVector = NodePlace & Omit<NodeVector<number>, "key">;

/** Stages vectors until all of them exist; skips memories that are gone. Runs inside a transaction. */
async function stageVectors(
  sql: Sql,
  entries: readonly PlacedVector[],
  { model, version, dimension }: EmbeddingIdentity,
): Promise<void> {
  const rows = await sql.all<{ place: number }>(
    `SELECT u.place::integer AS place FROM unnest($1::bigint[], $2::integer[]) WITH ORDINALITY u (owner, key, place)
     JOIN nodes n ON n.owner = u.owner AND n.key = u.key FOR KEY SHARE OF n`,
    listText(entries.map(({ owner }) => owner)),
    listText(entries.map(({ key }) => key)),
  );
  const there = rows.flatMap(({ place }) => entries[place - 1] ?? []);
  await insertMany(
    sql,
    "vector_staging",
    [["owner", "bigint"], ["key", "integer"], ...COLUMNS.staging, ["embedding", "vector"]],
    there.map(({ owner, key, contentHash, vector }) => [
      ...[owner, key, contentHash, model, version, dimension, writeVector(vector)],
    ]),
    `ON CONFLICT (owner, key) DO UPDATE SET content_hash = excluded.content_hash, model = excluded.model,
       version = excluded.version, dimension = excluded.dimension, embedding = excluded.embedding`,
  );
}

/**
 * Replaces all vectors with the staged ones of a model, and records the model. Runs inside a transaction, during which no other writer
 * runs.
 */
async function replaceVectors(sql: Sql, identity: EmbeddingIdentity, now: Instant): Promise<void> {
  const { model, version, dimension } = identity;
  await run(sql, writeEmbedding(identity, now));
  // First, since vectors carry their owner's version.
  await sql.run("UPDATE owners SET version = version + 1");
  await sql.run("DELETE FROM vectors");
  await sql.run("DELETE FROM vector_parts");
  const staged = `FROM vector_staging s WHERE s.model = $1 AND s.version = $2 AND s.dimension = $3
    AND n.owner = s.owner AND n.key = s.key`;
  await sql.run(
    `UPDATE nodes n SET embedding = ${asOwn("s.embedding")} ${staged}`,
    model,
    version,
    dimension,
  );
  await sql.run(
    `INSERT INTO vectors (owner, key, embedding, scope, node_type, content_hash, revision)
     SELECT n.owner, n.key, n.embedding, n.scope, n.node_type, s.content_hash, o.version
     FROM nodes n JOIN vector_staging s ON n.owner = s.owner AND n.key = s.key JOIN owners o ON o.owner = n.owner
     WHERE s.model = $1 AND s.version = $2 AND s.dimension = $3 AND n.lifecycle_state IN ${ACTIVE}`,
    ...[model, version, dimension],
  );
  await sql.run("DELETE FROM vector_staging");
  for (const owner of await ownersWithVectors(sql)) await leanAll(sql, owner);
}

async function ownersWithVectors(sql: Sql): Promise<readonly OwnerKey[]> {
  const rows = await sql.all<{ owner: OwnerKey }>("SELECT DISTINCT owner FROM vectors");
  return rows.map(({ owner }) => owner);
}

/**
 * Removes an owner's vectors without an active node with text, and corrects the mixed vectors of turns. Runs inside a write transaction.
 */
async function mendVectors(sql: Sql, owner: OwnerKey): Promise<void> {
  const orphans = await sql.all<{ key: number }>(
    `SELECT v.key FROM vectors v JOIN nodes n ON n.owner = v.owner AND n.key = v.key
     WHERE v.owner = $1::bigint AND NOT (n.lifecycle_state IN ${ACTIVE} AND ${HAS_TEXT})`,
    owner,
  );
  await evictVectors(
    sql,
    owner,
    orphans.map(({ key }) => key),
  );
  await leanAll(sql, owner);
}
