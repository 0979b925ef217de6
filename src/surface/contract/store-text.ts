import type { ProcessingResult } from "../../domain/jobs.ts";
import type { StoreReceipt } from "../../engine/results.ts";
import type { Uuid } from "../../lib/uuid.ts";
import { counted, listed } from "./tool-text.ts";

/** What became of a memory that was stored. */
export function tellStore({ nodeId, eventId, processingStatus }: StoreReceipt): string {
  const ids = `node_id ${nodeId}\nevent_id ${eventId}`;
  if (processingStatus.status === "complete") return `Stored; it can be found from now on.\n${ids}`;
  const reason = processingStatus.lastError;
  return `Stored; it can be found once it is indexed, which happens by itself${reason === undefined ? "" : ` (last try: ${reason})`}. Do not store it again.\n${ids}`;
}

export function tellIngest(eventId: Uuid): string {
  return `Taken in; it can be found from now on.\nevent_id ${eventId}`;
}

export function tellIngestFast(ids: readonly Uuid[]): string {
  return [
    `${counted(ids.length, "text", "texts")} kept. Call memory_process_materializations to make them findable.`,
    ...listed(ids, (id) => `event_id ${id}`),
  ].join("\n");
}

export function tellProcessing({ processed, pending, failed }: ProcessingResult): string {
  if (pending === 0) return `${processed} made findable, none pending.`;
  const failures = failed === 0 ? "" : `, of which the last try failed for ${failed}`;
  return `${processed} made findable, ${pending} pending${failures}. Call it again for the rest.`;
}
