import { SCOPES } from "../../../domain/enums.ts";
import type { ExtractionRecord, ExtractionStatus } from "../../../engine/inspect/api.ts";
import {
  anyJson,
  constant,
  count,
  instant,
  member,
  nothing,
  nullable,
  omitted,
  text,
  uuid,
} from "../../../lib/form.ts";
import { noted, shownAs, told, view } from "../../../lib/view.ts";

export const extractionView = noted(
  view<ExtractionRecord>()({
    schemaVersion: constant(1),
    groundingPolicy: noted(text, { description: "The rules by which it was checked." }),
    eventId: uuid,
    userId: text,
    scope: member(SCOPES),
    contentHash: noted(text, { description: "Of the event's text." }),
    provider: text,
    model: text,
    result: noted(anyJson, { description: "What the model found, after all checks." }),
    createdAt: instant,
    batchId: noted(omitted(text), { description: "Absent for a turn extracted alone." }),
  }),
  { id: "Extraction", description: "What was extracted from one event, recorded once." },
);

/** Such work has neither plans nor a schedule. */
export const extractionStatusView = noted(
  view<ExtractionStatus>()({
    eventId: told(uuid, ({ job }) => job.eventId),
    status: member(["pending", "running", "complete", "failed"]),
    phase: member(["extraction", "preparation", "publication", "complete"]),
    attempts: told(count, ({ job }) => job.attempts),
    generation: told(
      noted(count, { description: "Rises with each attempt." }),
      ({ job }) => job.attempts,
    ),
    planId: told(shownAs(nothing, nullable(uuid)), () => null),
    planRevision: told(shownAs(nothing, nullable(count)), () => null),
    leaseExpiresAt: told(nullable(instant), ({ job }) => job.leaseExpiresAt),
    nextAttemptAt: told(shownAs(nothing, nullable(instant)), () => null),
    lastError: told(
      noted(nullable(text), { description: "Category of the last failure." }),
      ({ job }) => job.lastError,
    ),
    updatedAt: told(instant, ({ job }) => job.updatedAt),
  }),
  { id: "ExtractionStatus", description: "How far extraction from one event has come." },
);
