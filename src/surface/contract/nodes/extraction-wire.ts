import { SCOPES } from "../../../domain/enums.ts";
import type { ExtractionRecord, ExtractionStatus } from "../../../engine/inspect/api.ts";
import {
  anyJson,
  anyObject,
  constant,
  count,
  instant,
  member,
  noted,
  nullable,
  omitted,
  text,
  uuid,
  view,
} from "../../../lib/form.ts";

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
    promptVersion: noted(omitted(text), { description: "Of what the model was told." }),
    result: noted(anyJson, { description: "What the model found, after all checks." }),
    dropped: noted(omitted(anyObject), {
      description: "How often something that the model said is not believed, by reason.",
    }),
    createdAt: instant,
    batchId: noted(omitted(text), { description: "Absent for a turn extracted alone." }),
  }),
  { id: "Extraction", description: "What was extracted from one event, recorded once." },
);

export const extractionStatusView = noted(
  view<ExtractionStatus>()({
    eventId: uuid,
    status: noted(member(["pending", "running", "complete", "failed"]), {
      description: "Nobody tries a failed one again unasked.",
    }),
    phase: member(["extraction", "preparation", "publication", "complete"]),
    attempts: noted(count, { description: "Tries that were begun." }),
    generation: noted(count, { description: "Rises with each attempt and each replan." }),
    planId: noted(nullable(uuid), { description: "Of the plan that is kept." }),
    planRevision: noted(count, { description: "Counts the plans, from 1." }),
    leaseExpiresAt: nullable(instant),
    nextAttemptAt: nullable(instant),
    lastError: noted(nullable(text), { description: "Category of the last failure." }),
    updatedAt: instant,
  }),
  { id: "ExtractionStatus", description: "How far extraction from one event has come." },
);
