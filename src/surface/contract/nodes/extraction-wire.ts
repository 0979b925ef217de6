import { z } from "zod";
import type { ExtractionRecord, ExtractionStatus } from "../../../engine/inspect/api.ts";
import { count, instantOut, scope, uuidOut } from "../core/fields.ts";

export const extractionSchema = z
  .strictObject({
    schema_version: z.literal(1),
    grounding_policy: z.string().meta({ description: "The rules by which it was checked." }),
    event_id: uuidOut,
    user_id: z.string(),
    scope,
    content_hash: z.string().meta({ description: "Of the event's text." }),
    provider: z.string(),
    model: z.string(),
    result: z.unknown().meta({ description: "What the model found, after all checks." }),
    created_at: instantOut,
    batch_id: z.string().optional().meta({ description: "Absent for a turn extracted alone." }),
  })
  .meta({ id: "Extraction", description: "What was extracted from one event, recorded once." });

export const extractionStatusSchema = z
  .strictObject({
    event_id: uuidOut,
    status: z.enum(["pending", "running", "complete", "failed"]),
    phase: z.enum(["extraction", "preparation", "publication", "complete"]),
    attempts: count,
    generation: count.meta({ description: "Rises with each attempt." }),
    plan_id: uuidOut.nullable(),
    plan_revision: count.nullable(),
    lease_expires_at: instantOut.nullable(),
    next_attempt_at: instantOut.nullable(),
    last_error: z.string().nullable().meta({ description: "Category of the last failure." }),
    updated_at: instantOut,
  })
  .meta({ id: "ExtractionStatus", description: "How far extraction from one event has come." });

/** The wire form of an extraction; `batch_id` is left out when there is none. */
export function toExtractionWire(record: ExtractionRecord): z.infer<typeof extractionSchema> {
  return {
    schema_version: record.schemaVersion,
    grounding_policy: record.groundingPolicy,
    event_id: record.eventId,
    user_id: record.userId,
    scope: record.scope,
    content_hash: record.contentHash,
    provider: record.provider,
    model: record.model,
    result: record.result,
    created_at: record.createdAt,
    ...(record.batchId !== undefined && { batch_id: record.batchId }),
  };
}

/** The wire form of an extraction's status. Work has neither plans nor a schedule of its own. */
export function toExtractionStatusWire({
  job,
  status,
  phase,
}: ExtractionStatus): z.infer<typeof extractionStatusSchema> {
  return {
    event_id: job.eventId,
    status,
    phase,
    attempts: job.attempts,
    generation: job.attempts,
    plan_id: null,
    plan_revision: null,
    lease_expires_at: job.leaseExpiresAt ?? null,
    next_attempt_at: null,
    last_error: job.lastError ?? null,
    updated_at: job.updatedAt,
  };
}
