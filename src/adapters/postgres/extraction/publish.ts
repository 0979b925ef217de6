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
import { brokenChange, momentAfter } from "../../../domain/search/change.ts";
import { isOfConversation } from "../../../domain/search/turns.ts";
import { sha256Hex } from "../../../lib/hashing.ts";
import { asUuid, type Uuid } from "../../../lib/uuid.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import type { ExtractionClaim, PlanPublication } from "../../../ports/store/work.ts";
import { writeAuditRecords } from "../../sql/audit.ts";
import { writeEdge } from "../../sql/edges.ts";
import { completeJob, heldJob, type JobRow, readJobRow } from "../../sql/extraction.ts";
import { readNodeRows } from "../../sql/nodes.ts";
import { type NodeRow, toNode, updateOfNode } from "../../sql/rows.ts";
import { readManifest } from "../../sql/settings.ts";
import { beyondWall } from "../connection/row-security.ts";
import { run } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import { writeNodes } from "../graph/write-nodes.ts";
import { evict } from "../search/evict.ts";
import { writeDocuments } from "../search/write-documents.ts";
import { putVectors, type VectorEntry } from "../search/write-vectors.ts";
import { reopenJob } from "../work/jobs.ts";

/** Carries out a plan. Runs inside a write transaction of the owner, which must be rolled back when it throws. */
export async function publishPlan(
  sql: Sql,
  claim: ExtractionClaim,
  publication: PlanPublication,
  embedding: EmbeddingIdentity,
): Promise<{ readonly staleId: Uuid } | undefined> {
  const { event, generation } = claim;
  if ((await run(sql, readJobRow(event.id, ALL_OWNERS)))?.status === "complete") return undefined;
  const job = await run(sql, heldJob(claim));
  if (job === undefined) throw takenOver();
  const plan = ownedBy(publication.plan, event.userId);
  const checksum = await checksumOf(sql, plan.id);
  if (plan.eventId !== event.id || checksum === undefined) {
    throw brokenChange(`the plan ${plan.id} of the event ${event.id} was not kept`);
  }
  const found = await readConcerned(sql, plan);
  const current = new Map(Array.from(found, ([id, row]) => [id, toNode(row)]));
  const replaced = plan.replacements.flatMap(({ oldId }) => current.get(oldId) ?? []);
  const at = momentAfter(replaced, publication.at);
  const outcome = publish(plan, current, at);
  if ("staleId" in outcome) return outcome;
  for (const node of outcome.replaced) {
    const before = current.get(node.id);
    const update = before && updateOfNode(before, node);
    if (update !== undefined) await sql.run(update.sql, job.owner, node.id, ...update.values);
  }
  await writePublication(sql, { job, plan, vectors: publication.vectors, outcome }, embedding);
  await evict(
    sql,
    String(job.owner),
    outcome.replaced.flatMap(({ id }) => found.get(id)?.key ?? []),
  );
  const committed = toCommittedRecord({ id: plan.id, checksum }, outcome, {
    event,
    generation,
    at,
  });
  await run(sql, writeAuditRecords(job.owner, [committed]));
  await run(sql, completeJob(job, at));
  return undefined;
}

/** The memories that a plan relies on or replaces, by id. */
async function readConcerned(
  sql: Sql,
  { snapshots, replacements }: DerivationPlan,
): Promise<ReadonlyMap<Uuid, NodeRow>> {
  const ids = [...snapshots.map(({ id }) => id), ...replacements.map(({ oldId }) => oldId)];
  const rows = await run(sql, readNodeRows(ids));
  return new Map(rows.map((row) => [asUuid(row.id), row]));
}

/** The checksum of a kept plan, which is not read for it. */
async function checksumOf(sql: Sql, planId: Uuid): Promise<string | undefined> {
  const row = await beyondWall(sql).get<{ checksum: string }>(
    "SELECT payload::json ->> 'sha256' AS checksum FROM operations WHERE id = $1::uuid AND op_type = $2",
    planId,
    PLAN_OPERATION,
  );
  return row?.checksum;
}

type Carried = {
  readonly job: JobRow;
  readonly plan: DerivationPlan;
  readonly vectors: PlanPublication["vectors"];
  readonly outcome: Publication;
};

/** Writes what is new, with its index entries. */
async function writePublication(
  sql: Sql,
  { job, plan, vectors, outcome }: Carried,
  embedding: EmbeddingIdentity,
): Promise<void> {
  const owner = String(job.owner);
  // Another process may have changed the model since these vectors were made.
  const isOfModel = isSameEmbedding((await run(sql, readManifest()))?.embedding, embedding);
  const worded = new Set(plan.lexicalIds);
  const keys = await writeNodes(sql, owner, outcome.nodes);
  const texts: number[] = [];
  const entries: VectorEntry[] = [];
  let isMissing = false;
  for (const [index, node] of outcome.nodes.entries()) {
    const key = keys.get(node.id);
    if (key === undefined) continue;
    if (worded.has(node.id)) texts.push(key);
    const vector = isOfModel ? vectors[index] : undefined;
    if (vector === undefined) isMissing = true;
    else entries.push({ key, vector, contentHash: sha256Hex(node.content) });
  }
  for (const edge of outcome.edges) await run(sql, writeEdge(edge));
  const areAlone = !outcome.nodes.some(isOfConversation);
  await putVectors(sql, owner, entries, embedding, areAlone);
  // Once all nodes exist: neighbours that arrive together are written once.
  await writeDocuments(sql, owner, texts, areAlone);
  if (isMissing) await reopenJob(sql, owner, job.event_id);
}
