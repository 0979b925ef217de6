import type { Database } from "bun:sqlite";
import { sha256Hex } from "../../../lib/hashing.ts";
import type { Instant } from "../../../lib/instant.ts";
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
import { createVectors } from "../schema/schema.ts";
import { makeAllCodes } from "../vectors/codes.ts";
import {
  leanAll,
  nextRevision,
  orphanVectors,
  putVectors,
  removeStrayPayloads,
  removeVectors,
  writePayload,
} from "../vectors/write-vectors.ts";
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
  const schema = vectorSchema(parts.layout);
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
        const now = runSteps(database, timeOf(worker.clock));
        if (plan.vectors === "replace") return stageVectors(database, entries, embedding);
        runSteps(database, requireModel(embedding));
        putVectors(
          database,
          entries.map((entry) => ({ ...entry, at: now })),
          embedding,
        );
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
          replaceVectors(database, schema, embedding, now);
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

/** SQLite's name of the file that holds the vectors. */
export function vectorSchema(layout: PackLayout): string {
  return layout.kind === "file" ? "main" : "vector_file";
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
  repair: `SELECT ${NODE_COLUMNS}, CASE WHEN n.lifecycle_state NOT IN ${ACTIVE} THEN
      (SELECT '' FROM vector_payloads p WHERE p.node_key = n.key)
      WHEN r.rowid IS NULL THEN NULL ELSE m.content_hash END AS indexed_hash
    FROM nodes n JOIN owners o ON o.owner = n.owner
      LEFT JOIN vector_metadata m ON m.node_key = n.key AND m.embedding_model = ?1 AND m.embedding_version = ?2
        AND ?3 IS NOT NULL
      LEFT JOIN vectors_rowids r ON r.rowid = n.key`,
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
      if (row.indexed_hash !== "" && row.indexed_hash !== sha256Hex(row.content)) {
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

/**
 * Fills a fresh vector index from the staged vectors of a model and empties the staging table. The old index is dropped, not emptied: the
 * new one may have another dimension, and starts unfragmented. Runs inside a write transaction.
 * @param schema SQLite's name of the file that holds the vectors
 */
export function replaceVectors(
  database: Database,
  schema: string,
  identity: EmbeddingIdentity,
  now: Instant,
): void {
  database.run(`DROP TABLE ${schema}.vectors`);
  database.run(createVectors(`${schema}.vectors`, identity.dimension));
  for (const table of ["vector_metadata", "vector_payloads", "vector_parts", "vector_codes"])
    database.run(`DELETE FROM ${table}`);
  const revision = nextRevision(database);
  const staged = `FROM vector_staging s CROSS JOIN nodes n ON n.key = s.node_key
    WHERE s.model = ?1 AND s.version = ?2 AND s.dimension = ?3 AND n.lifecycle_state IN ${ACTIVE} ORDER BY s.node_key`;
  const { model, version, dimension } = identity;
  database
    .query(
      `INSERT INTO vectors (node_key, owner, active, embedding) SELECT s.node_key, n.owner, 1, s.embedding ${staged}`,
    )
    .run(model, version, dimension);
  database
    .query(
      `INSERT INTO vector_metadata
         (node_key, embedding_model, embedding_version, content_hash, created_at, owner, revision)
       SELECT s.node_key, s.model, s.version, s.content_hash, ?4, n.owner, ?5 ${staged}`,
    )
    .run(model, version, dimension, now, revision);
  const retired = database.prepare<{ key: number; embedding: Uint8Array }, []>(
    `SELECT n.key, s.embedding FROM vector_staging s CROSS JOIN nodes n ON n.key = s.node_key
     WHERE n.lifecycle_state NOT IN ${ACTIVE}`,
  );
  for (const { key, embedding } of retired.iterate()) {
    writePayload(database, key, new Float32Array(embedding.slice().buffer));
  }
  retired.finalize();
  database.run("DELETE FROM vector_staging");
  leanAll(database);
  makeAllCodes(database);
}

/** Removes vectors that no node may have, and corrects the mixed vectors of turns. Runs inside a write transaction. */
export function mendVectors(database: Database): void {
  removeVectors(database, orphanVectors(database));
  removeStrayPayloads(database);
  leanAll(database);
  makeAllCodes(database);
}
