import type { Database } from "bun:sqlite";
import { asUuid, type Uuid } from "../../../lib/uuid.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import { plannedNode, reopenJob } from "../../sql/jobs.ts";
import { readManifest } from "../../sql/settings.ts";
import { hasRow } from "../connection/ask.ts";
import { run } from "../connection/run.ts";
import { mendVectors, replaceVectors } from "../rebuild/rebuild.ts";
import { IS_INCOMPLETE } from "./change.ts";
import { mendDocuments } from "./lexical-index.ts";
import { ACTIVE } from "./turns.ts";

/**
 * Reconciles the index files of a directory pack with the graph. A commit over several files is not atomic under WAL: after a
 * crash an index may lack the last transactions, or be ahead by them. Entries without an active node are removed, with what their
 * neighbours contain of them; active nodes without an entry get their job back. Vectors of a model other than the manifest's come
 * from a rebuild that was interrupted between the files; the staged ones then replace them. Runs inside a write transaction.
 * @returns how many nodes will be indexed again
 */
export function reconcileIndexes(database: Database): number {
  const sequences = database
    .query<{ core: number; vectors: number; lexical: number }, []>(
      `SELECT (SELECT value FROM index_sequence) AS core, (SELECT value FROM vectors_sequence) AS vectors,
         (SELECT value FROM lexical_sequence) AS lexical`,
    )
    .get();
  if (sequences === null) return 0;
  const { core, vectors, lexical } = sequences;
  if (core === vectors && core === lexical) return 0;
  const embedding = run(database, readManifest())?.embedding;
  if (embedding !== undefined && hasOtherVectors(database, embedding)) {
    replaceVectors(database, embedding);
  }
  mendVectors(database);
  mendDocuments(database);
  const missing = database
    .query<MissingRow, []>(
      `SELECT id, owner, evidence_refs FROM nodes n WHERE lifecycle_state IN ${ACTIVE} AND ${IS_INCOMPLETE}`,
    )
    .all();
  for (const row of missing) {
    const event = eventOf(database, row);
    if (event !== undefined) run(database, reopenJob(row.owner, event));
  }
  const next = Math.max(core, vectors, lexical) + 1;
  for (const table of ["index_sequence", "vectors_sequence", "lexical_sequence"]) {
    database.query(`UPDATE ${table} SET value = ?`).run(next);
  }
  return missing.length;
}

type MissingRow = { readonly id: string; readonly owner: number; readonly evidence_refs: string };

/** The event, among those that a node cites, whose job creates it. If none says so, the first. */
function eventOf(database: Database, { id, evidence_refs }: MissingRow): Uuid | undefined {
  // SAFETY: the column is only ever written as a JSON list of canonical ids.
  const cited = JSON.parse(evidence_refs) as Uuid[];
  const own = asUuid(id);
  if (cited.includes(own)) return own;
  if (cited.length < 2) return cited[0];
  return cited.find((event) => run(database, plannedNode(event))?.id === own) ?? cited[0];
}

function hasOtherVectors(database: Database, identity: EmbeddingIdentity): boolean {
  const { model, version, dimension } = identity;
  return !hasRow(
    database,
    "vector_model WHERE model = ? AND version = ? AND dimension = ?",
    model,
    version,
    dimension,
  );
}
