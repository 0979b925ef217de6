import type { Database } from "bun:sqlite";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import type { IndexableNodes, IndexRebuild } from "../../../ports/store/search-index.ts";
import {
  beginRun,
  endRun,
  noteProgress,
  type RebuildRun,
  renewRun,
  requireRun,
} from "../../sql/rebuild.ts";
import { requireModel, writeEmbedding } from "../../sql/settings.ts";
import { timeOf, type Worker } from "../../sql/work.ts";
import type { PackLayout } from "../connection/layout.ts";
import { run as runSteps } from "../connection/run.ts";
import { putVectors } from "../vectors/write-vectors.ts";
import { advanceIndexSequence } from "../write/index-sequence.ts";
import { rewriteDocuments } from "../write/lexical-index.ts";
import { ACTIVE, HAS_TEXT } from "../write/turns.ts";
import { findStale, isAnyStale, mendVectors, replaceVectors, stageVectors } from "./staging.ts";

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
