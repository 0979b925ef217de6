import type { Database } from "bun:sqlite";
import { sha256Hex } from "../../../lib/hashing.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import type {
  IndexableNodes,
  IndexRebuild,
  NodeVector,
  RebuildPlan,
  StaleNodes,
} from "../../../ports/store/search-index.ts";
import {
  beginRun,
  endRun,
  noteProgress,
  type RebuildRun,
  renewRun,
  requireRun,
} from "../../sql/rebuild.ts";
import { NODE_COLUMNS, type NodeRow, toNode } from "../../sql/rows.ts";
import { requireModel, writeEmbedding } from "../../sql/settings.ts";
import { timeOf, type Worker } from "../../sql/work.ts";
import { advanceIndexSequence } from "../connection/ask.ts";
import type { PackLayout } from "../connection/layout.ts";
import { run as runSteps } from "../connection/run.ts";
import { makeAllCodes } from "../vectors/codes.ts";
import { leanAll, putStaged, putVectors, removeStrayVectors } from "../vectors/write-vectors.ts";
import { rewriteDocuments } from "../write/lexical-index.ts";
import { ACTIVE, HAS_TEXT } from "../write/turns.ts";

export type IndexRebuildParts = {
  readonly layout: PackLayout;
  /** The model that the store was opened for. */
  readonly embedding: EmbeddingIdentity;
  readonly worker: Worker;
  read<T>(work: (database: Database) => T): Promise<T>;
  write<T>(work: (database: Database) => T): Promise<T>;
};

/** The rebuild of one SQLite pack. */
export function createIndexRebuild(parts: IndexRebuildParts): IndexRebuild<number> {
  const { worker, embedding, read, write } = parts;
  let run: RebuildRun | undefined;
  return {
    begin: async (all) => {
      run = await write((database) => runSteps(database, beginRun(parts, all)));
      return run.plan;
    },
    stale: (plan, after, limit) =>
      read((database) => {
        runSteps(database, requireRun(run));
        return findStale(database, plan.vectors, embedding, { after, limit });
      }),
    put: (plan, entries) =>
      write((database) => {
        runSteps(database, renewRun(run, worker));
        if (plan.vectors === "replace") return stageVectors(database, entries, embedding);
        runSteps(database, requireModel(embedding));
        putVectors(database, entries);
        advanceIndexSequence(database);
      }),
    swap: (plan) =>
      write((database) => {
        runSteps(database, renewRun(run, worker));
        const now = runSteps(database, timeOf(worker.clock));
        if (isAnyStale(database, plan.vectors, embedding)) return false;
        if (plan.vectors === "repair") mendVectors(database);
        else {
          // First, since turn vectors are mixed as the pack's model requires.
          runSteps(database, writeEmbedding(embedding, now));
          replaceVectors(database, embedding);
          runSteps(database, noteProgress({ replaces: false }));
        }
        advanceIndexSequence(database);
        return true;
      }),
    rewriteTexts: (limit) =>
      write((database) => {
        const { key: after } = runSteps(database, renewRun(run, worker));
        const { written, cursor, hasMore } = rewriteDocuments(database, after, limit);
        runSteps(database, noteProgress({ texts: { key: cursor } }));
        advanceIndexSequence(database);
        return { written, hasMore };
      }),
    end: (outcome) => write((database) => runSteps(database, endRun(run, outcome, worker))),
    count: () => read(countIndexable),
  };
}

function countIndexable(database: Database): IndexableNodes {
  return (
    database
      .query<IndexableNodes, []>(
        `SELECT count(*) AS total, count(*) FILTER (WHERE NOT (${HAS_TEXT})) AS blank
         FROM nodes n WHERE lifecycle_state IN ${ACTIVE}`,
      )
      .get() ?? { total: 0, blank: 0 }
  );
}

/** Maximum nodes read in one step, so that it ends soon even if nothing is stale. */
const SCAN_MAX = 5000;

/** Nodes with the content hash of their vector of the wanted model in each target; null without one; empty for a retired node. */
const SCAN: Readonly<Record<RebuildPlan["vectors"], string>> = {
  replace: `SELECT ${NODE_COLUMNS}, s.content_hash AS indexed_hash
    FROM nodes n JOIN owners o ON o.owner = n.owner
      LEFT JOIN vector_staging s ON s.node_key = n.key AND s.model = ?1 AND s.version = ?2 AND s.dimension = ?3`,
  repair: `SELECT ${NODE_COLUMNS}, CASE WHEN n.lifecycle_state NOT IN ${ACTIVE}
      THEN (SELECT '' FROM vectors v WHERE v.node_key = n.key)
      ELSE (SELECT lower(hex(v.content_hash)) FROM vectors v WHERE v.node_key = n.key AND v.revision IS NOT NULL)
      END AS indexed_hash
    FROM nodes n JOIN owners o ON o.owner = n.owner AND coalesce(?1, ?2, ?3) IS NOT NULL`,
};

type ScanRow = NodeRow & { readonly indexed_hash: string | null };

/** Nodes with text whose vector of this model is missing or was made from another text. */
export function findStale(
  database: Database,
  target: RebuildPlan["vectors"],
  identity: EmbeddingIdentity,
  page: { readonly after: number; readonly limit: number },
): StaleNodes<number> {
  const rows = database.prepare<ScanRow, (string | number)[]>(
    `${SCAN[target]} WHERE n.key > ?4 AND ${HAS_TEXT} ORDER BY n.key LIMIT ?5`,
  );
  const nodes: StaleNodes<number>["nodes"][number][] = [];
  let scanned = 0;
  let scannedTo = page.after;
  try {
    const { model, version, dimension } = identity;
    for (const row of rows.iterate(model, version, dimension, page.after, SCAN_MAX)) {
      scanned += 1;
      scannedTo = row.key;
      // Of the hash of a vector in place the beginning is kept.
      if (row.indexed_hash === null || !sha256Hex(row.content).startsWith(row.indexed_hash)) {
        nodes.push({ key: row.key, node: toNode(row) });
        if (nodes.length === page.limit) break;
      }
    }
  } finally {
    rows.finalize();
  }
  return {
    nodes,
    scanned,
    scannedTo,
    hasMore: nodes.length === page.limit || scanned === SCAN_MAX,
  };
}

/** Whether any node with text lacks a current vector of this model. */
function isAnyStale(
  database: Database,
  target: RebuildPlan["vectors"],
  identity: EmbeddingIdentity,
): boolean {
  for (let after = 0; ; ) {
    const found = findStale(database, target, identity, { after, limit: 1 });
    if (found.nodes.length > 0) return true;
    if (!found.hasMore) return false;
    after = found.scannedTo;
  }
}

/** Stages vectors until all of them exist; skips memories that are gone. Runs inside a write transaction. */
function stageVectors(
  database: Database,
  entries: readonly NodeVector<number>[],
  identity: EmbeddingIdentity,
): void {
  const stage = database.query(
    `INSERT OR REPLACE INTO vector_staging (node_key, content_hash, model, version, dimension, embedding)
     SELECT key, ?2, ?3, ?4, ?5, ?6 FROM nodes WHERE key = ?1`,
  );
  const { model, version, dimension } = identity;
  for (const { key, contentHash, vector } of entries) {
    stage.run(key, contentHash, model, version, dimension, vector);
  }
}

/** Puts the staged vectors of a model in place of all others. Runs inside a write transaction. */
export function replaceVectors(database: Database, identity: EmbeddingIdentity): void {
  putStaged(database, identity);
  leanAll(database);
  makeAllCodes(database);
}

/** Removes vectors that no node may have, and corrects the neighbours of turns. Runs inside a write transaction. */
export function mendVectors(database: Database): void {
  removeStrayVectors(database);
  leanAll(database);
  makeAllCodes(database);
}
