import { z } from "zod";
import type { ProcessingResult, ProcessingStatus } from "../../../domain/jobs.ts";
import { count, instantOut, userIdIn, uuidOut } from "../core/fields.ts";

export const processingStatusSchema = z
  .strictObject({
    event_id: uuidOut,
    status: z.enum(["pending", "complete"]),
    attempts: count,
    last_error: z.string().nullable().meta({ description: "Category of the last failure." }),
    updated_at: instantOut,
  })
  .meta({
    id: "ProcessingStatus",
    description: "How far the memory and index entries of one event have come.",
  });

export const processBodySchema = z
  .strictObject({
    user_id: userIdIn,
    budget_ms: count
      .optional()
      .meta({ description: "Milliseconds to spend; 0 only counts.", default: 1000 }),
  })
  .meta({ id: "ProcessRequest" });
export const processToolSchema = z.strictObject({
  ...processBodySchema.shape,
  budget_ms: count
    .nullish()
    .meta({ description: "Milliseconds to spend; 0 only counts.", default: 1000 }),
});
export type ProcessWire = z.infer<typeof processToolSchema>;

export const processingResultSchema = z
  .strictObject({
    processed: count,
    pending: count,
    failed: count.meta({ description: "Pending items whose last try failed." }),
  })
  .meta({ id: "ProcessingResult" });

/** The wire form of one event's processing status. */
export function toStatusWire(status: ProcessingStatus): z.infer<typeof processingStatusSchema> {
  return {
    event_id: status.eventId,
    status: status.status,
    attempts: status.attempts,
    last_error: status.lastError ?? null,
    updated_at: status.updatedAt,
  };
}

/** The wire form of one processing pass. */
export function toResultWire(result: ProcessingResult): z.infer<typeof processingResultSchema> {
  return { processed: result.processed, pending: result.pending, failed: result.failed };
}
