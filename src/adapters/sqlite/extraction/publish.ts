import type { Database } from "bun:sqlite";
import { isSameEmbedding } from "../../../domain/embedding-models.ts";
import {
  type DerivationPlan,
  ownedBy,
  PLAN_OPERATION,
  type Publication,
  publish,
  toCommittedRecord,
} from "../../../domain/extraction/plan/derivation.ts";
import { takenOver } from "../../../domain/jobs.ts";
import { ALL_OWNERS } from "../../../domain/owner.ts";
import { changingValues } from "../../../domain/records/rows.ts";
import { brokenChange, momentAfter } from "../../../domain/search/change.ts";
import { sha256Hex } from "../../../lib/hashing.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import type { ExtractionClaim, PlanPublication } from "../../../ports/store/work.ts";
import { writeAuditRecords } from "../../sql/audit.ts";
import { writeEdge } from "../../sql/edges.ts";
import { completeJob, heldJob, type JobRow, readJobRow } from "../../sql/extraction.ts";
import { UPDATE_NODE } from "../../sql/rows.ts";
import { readManifest } from "../../sql/settings.ts";
import { ask } from "../connection/ask.ts";
import { run } from "../connection/run.ts";
import { putVectors, type VectorEntry } from "../vectors/write-vectors.ts";
import { evict, readNodes } from "../write/change.ts";
import { advanceIndexSequence } from "../write/index-sequence.ts";
import { reopenJob } from "../write/jobs.ts";
import { writeDocuments } from "../write/lexical-index.ts";
import { writeNode } from "../write/write-node.ts";

/** Carries out a plan. Runs inside a write transaction, which must be rolled back when it throws. */
export function publishPlan(
  database: Database,
  claim: ExtractionClaim,
  publication: PlanPublication,
  embedding: EmbeddingIdentity,
): { readonly staleId: Uuid } | undefined {
  const { event } = claim;
  if (run(database, readJobRow(event.id, ALL_OWNERS))?.status === "complete") return undefined;
  const job = run(database, heldJob(claim));
  if (job === undefined) throw takenOver();
  const plan = ownedBy(publication.plan, event.userId);
  const checksum = checksumOf(database, plan.id);
  if (plan.eventId !== event.id || checksum === undefined) {
    throw brokenChange(`the plan ${plan.id} of the event ${event.id} was not kept`);
  }
  const found = readNodes(database, [
    ...plan.snapshots.map(({ id }) => id),
    ...plan.replacements.map(({ oldId }) => oldId),
  ]);
  const current = new Map(Array.from(found, ([id, { node }]) => [id, node]));
  const replaced = plan.replacements.flatMap(({ oldId }) => current.get(oldId) ?? []);
  const at = momentAfter(replaced, publication.at);
  const outcome = publish(plan, current, at);
  if ("staleId" in outcome) return outcome;
  const update = database.query(UPDATE_NODE);
  const gone = outcome.replaced.map((node) => {
    const key = found.get(node.id)?.key ?? 0;
    update.run(...changingValues(node), key);
    return key;
  });
  writePublication(database, { job, plan, vectors: publication.vectors, outcome, at }, embedding);
  evict(database, gone);
  advanceIndexSequence(database);
  const { generation } = claim;
  const kept = { id: plan.id, checksum };
  run(
    database,
    writeAuditRecords(0, [toCommittedRecord(kept, outcome, { event, generation, at })]),
  );
  run(database, completeJob(job, at));
  return undefined;
}

/** The checksum of a kept plan, which is not read for it. */
function checksumOf(database: Database, planId: Uuid): string | undefined {
  return ask<string>(
    database,
    "SELECT payload ->> 'sha256' FROM operations WHERE id = ? AND op_type = ?",
    planId,
    PLAN_OPERATION,
  );
}

type Carried = {
  readonly job: JobRow;
  readonly plan: DerivationPlan;
  readonly vectors: PlanPublication["vectors"];
  readonly outcome: Publication;
  readonly at: Instant;
};

/** Writes what is new, with its index entries. */
function writePublication(
  database: Database,
  { job, plan, vectors, outcome, at }: Carried,
  embedding: EmbeddingIdentity,
): void {
  // Another process may have changed the model since these vectors were made.
  const isOfModel = isSameEmbedding(run(database, readManifest())?.embedding, embedding);
  const worded = new Set(plan.lexicalIds);
  const texts: number[] = [];
  const entries: VectorEntry[] = [];
  let isMissing = false;
  for (const [index, node] of outcome.nodes.entries()) {
    const key = writeNode(database, node, Number(job.owner));
    if (key === undefined) continue;
    if (worded.has(node.id)) texts.push(key);
    const vector = isOfModel ? vectors[index] : undefined;
    if (vector === undefined) isMissing = true;
    else entries.push({ key, vector, contentHash: sha256Hex(node.content), at });
  }
  for (const edge of outcome.edges) run(database, writeEdge(edge));
  // Vectors before words (see `evict`), and words once all nodes exist: neighbours that arrive together are written once.
  putVectors(database, entries, embedding);
  writeDocuments(database, texts);
  if (isMissing) reopenJob(database, job.event_id);
}
