import { ALL_OWNERS } from "../../../domain/owner.ts";
import type {
  IndexableNodes,
  IndexRebuild,
  RebuildPlan,
} from "../../../ports/store/search-index.ts";
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
import { toNode } from "../../sql/rows.ts";
import { requireModel } from "../../sql/settings.ts";
import { timeOf } from "../../sql/work.ts";
import { run as runSteps } from "../connection/run.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { type OwnerKey, ownerKey } from "../owner-key.ts";
import type { Parts } from "../parts.ts";
import { rewriteDocuments } from "../search/rewrite-documents.ts";
import { HAS_TEXT } from "../search/turns.ts";
import { putVectors } from "../search/write-vectors.ts";
import {
  BEFORE_ALL,
  findStale,
  isAnyStale,
  mendVectors,
  type NodePlace,
  type PlacedVector,
  replaceVectors,
  stageVectors,
} from "./staging.ts";

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
