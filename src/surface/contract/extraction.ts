import { z } from "zod";
import { SCOPES } from "../../domain/enums.ts";
import { invalid, missing } from "../../domain/errors.ts";
import type { ExtractionPass } from "../../engine/extract/api.ts";
import type { ExtractionRecord, ExtractionStatus } from "../../engine/inspect/api.ts";
import {
  anyJson,
  anyObject,
  constant,
  instant,
  member,
  natural,
  noted,
  nullable,
  omitted,
  text,
  uuid,
  view,
} from "../../lib/form.ts";
import { count, id, owner } from "./core/fields.ts";
import { CHANGES, defineOperation, found, part } from "./core/operation.ts";
import { type Field, withDefault } from "./core/request.ts";

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
    attempts: noted(natural, { description: "Tries that were begun." }),
    generation: noted(natural, { description: "Rises with each attempt and each replan." }),
    planId: noted(nullable(uuid), { description: "Of the plan that is kept." }),
    planRevision: noted(natural, { description: "Counts the plans, from 1." }),
    leaseExpiresAt: nullable(instant),
    nextAttemptAt: nullable(instant),
    lastError: noted(nullable(text), { description: "Category of the last failure." }),
    updatedAt: instant,
  }),
  { id: "ExtractionStatus", description: "How far extraction from one event has come." },
);

const LIMIT_MAX = 1000;

const extractionPassView = noted(
  view<ExtractionPass>()({
    processed: noted(natural, { description: "Messages that this call finished." }),
    pending: noted(natural, { description: "Messages that wait or are being worked on." }),
    failed: noted(natural, { description: "Messages that nobody tries again by itself." }),
  }),
  { id: "ExtractionPass" },
);

export const processOperation = defineOperation({
  name: "process_extractions",
  summary: "Extract what is queued",
  description:
    "Extracts what is queued of the owner and due, in order, until all is done, the limit is reached or the budget ends.",
  request: {
    user_id: owner,
    limit: withDefault(count.max(LIMIT_MAX), 100, "Messages at most; 0 only counts.", {}),
    budget_ms: withDefault(
      z.number().min(0),
      5000,
      "Milliseconds, looked at between messages; 0 only counts.",
      "0 only counts.",
    ),
  },
  run: ({ engine }, input) => engine().processExtractions(input),
  answer: extractionPassView,
  http: {
    route: "post /v1/extractions/process",
    body: { schema: (shape) => z.object(shape).meta({ id: "ProcessExtractionsRequest" }) },
  },
  mcp: {
    tool: "memory_process_extractions",
    title: "Extract queued messages",
    description: "Extract claims from messages of memory_ingest now, not a little later.",
    // The budget is limit enough for a model.
    silentArguments: ["limit"],
    annotations: CHANGES,
    says: ({ failed }) =>
      failed === 0 ? undefined : "memory_extraction_status says why messages failed.",
  },
});

const REPLAN = "Make a new plan, where the kept one no longer fits (StaleDerivationPlanError).";

/** `true` or `false` in a query. */
const replan: Field<boolean | undefined> = {
  http: z.boolean().optional().meta({ description: REPLAN, default: false }),
  tool: z.boolean().nullish().meta({ default: false }),
  fromText: (text, name) => {
    if (text === "true" || text === "false") return text === "true";
    throw invalid(name, `${JSON.stringify(text.slice(0, 80))} is not true or false`);
  },
  // SAFETY: a value has passed its schema, or was parsed from a text.
  read: (value) => (value ?? undefined) as boolean | undefined,
};

export const retryOperation = defineOperation({
  name: "retry_extraction",
  summary: "Try an extraction again",
  description:
    "Makes extraction from an event due now, if it waits or has failed; it is done with what is queued next, or by process_extractions. 404 for an event from which nothing is to be extracted.",
  request: { event_id: id(), replan },
  run: async ({ engine, userId }, { eventId, replan: isReplan }) =>
    found(engine().retryExtraction(eventId, { userId, replan: isReplan }), () =>
      missing("extraction_status", eventId, `Extraction status of event '${eventId}' not found`),
    ),
  answer: extractionStatusView,
  http: { route: "post /v1/events/{event_id}/retry-extraction", statuses: [404] },
  mcp: {
    tool: "memory_retry_extraction",
    title: "Retry an extraction",
    description: "Queue a failed extraction again, for memory_process_extractions.",
    silentArguments: ["replan"],
    annotations: CHANGES,
  },
});

/** Operations on the queue of messages waiting for extraction. */
export const EXTRACTION_OPERATIONS = part("writing", processOperation, retryOperation);
