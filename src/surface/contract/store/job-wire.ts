import { z } from "zod";
import type { ProcessingResult, ProcessingStatus } from "../../../domain/jobs.ts";
import { instant, member, natural, nullable, text, uuid } from "../../../lib/form.ts";
import { noted, view } from "../../../lib/view.ts";
import { count, userIdIn } from "../core/fields.ts";

/** How far one event has come, as answers tell it. */
export const processingStatusView = noted(
  view<ProcessingStatus>()({
    eventId: uuid,
    status: member(["pending", "complete"]),
    attempts: natural,
    lastError: noted(nullable(text), { description: "Category of the last failure." }),
    updatedAt: instant,
  }),
  {
    id: "ProcessingStatus",
    description: "How far the memory and index entries of one event have come.",
  },
);

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

/** One processing pass, as answers tell it. */
export const processingResultView = noted(
  view<ProcessingResult>()({
    processed: natural,
    pending: natural,
    failed: noted(natural, { description: "Pending items whose last try failed." }),
  }),
  { id: "ProcessingResult" },
);
