import { z } from "zod";
import { parseRole, SCOPES } from "../../../domain/enums.ts";
import { invalid } from "../../../domain/errors.ts";
import { processingResultForm } from "../../../domain/jobs.ts";
import { list, natural, noted, told, uuid, view } from "../../../lib/form.ts";
import { camelKeys } from "../../../lib/text.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import { actorOf } from "../core/caller.ts";
import {
  choice,
  count,
  instantIn,
  metadataIn,
  owner,
  retryId,
  role,
  roleField,
  sessionId,
  sessionIdIn,
  speaker,
  speakerField,
} from "../core/fields.ts";
import { defineOperation, part } from "../core/operation.ts";
import { ADDS, CHANGES } from "../core/operation-parts.ts";
import { field, httpField, optional, parsed, withDefault } from "../core/request.ts";
import { tellStore } from "./text.ts";
import { anyMetadata, sourceText, storeAnswerView, storeRequest } from "./wire.ts";

const SAID = "When it was said.";

const storeOperation = defineOperation({
  name: "store",
  summary: "Store one memory",
  description:
    "Keeps one memory and waits until it can be found. Answers with the memories that it may replace; those in supersedes it replaces at once.",
  request: storeRequest,
  run: ({ engine, caller, operator }, input) =>
    engine().storeWithReceipt({ ...input, actorId: actorOf(caller, operator, undefined) }),
  answer: storeAnswerView,
  http: { route: "post /v1/store", body: "StoreRequest", statuses: [404, 409] },
  mcp: {
    tool: "memory_store",
    title: "Store a memory",
    description:
      "Remember one lasting thing: a fact, preference, decision, task or instruction. It can be found at once; the answer names memories that it may replace. " +
      "Not for secrets, passing remarks, or what memory_retrieve shows already. Name what it replaces in supersedes, or call memory_supersede next.",
    toolSet: "core",
    coreArguments: ["content", "node_type", "scope", "event_time", "supersedes"],
    silentArguments: ["request_id"],
    // The memories that it replaces are no longer found.
    annotations: { ...ADDS, destructiveHint: true },
    tell: tellStore,
    about: ({ nodeId }) => nodeId,
  },
});

const ingestOperation = defineOperation({
  name: "ingest",
  summary: "Take in one message",
  description:
    "The message is kept as a note, as it is. Where extraction is turned on, a language model extracts claims from it: behind the call, or before the answer with wait_for_extraction. If that fails, the answer is 503 with `accepted` and the event, and the message is kept.",
  request: {
    content: field(sourceText, z.string().meta({ description: "The message, word for word." })),
    user_id: owner,
    role: roleField,
    speaker: speakerField,
    first_person_owner: withDefault(
      z.boolean(),
      false,
      "The singular first person of this message is the owner. Needs role user or human and no speaker; leave it out for pasted text.",
      "`I` in it is the owner; needs role user and no speaker.",
    ),
    session_id: sessionId,
    metadata: field(anyMetadata, metadataIn),
    event_time: optional(instantIn, SAID),
    wait_for_extraction: httpField(
      z.boolean().optional().meta({
        description:
          "Whether to wait for the claims. Where extraction is off, there is nothing to wait for.",
        default: false,
      }),
    ),
    scope: choice(SCOPES, { default: "personal" }),
  },
  run: ({ engine }, input) => engine().ingest(input),
  answer: noted(view<Uuid>()({ eventId: told(uuid, (id) => id) }), { id: "IngestReceipt" }),
  http: { route: "post /v1/ingest", body: "IngestRequest" },
  mcp: {
    tool: "memory_ingest",
    title: "Take in a message",
    description:
      "Keep one message word for word, as a note that can be found at once; where extraction is on, its claims follow. " +
      "For records of what was said; memory_store is for what follows from it.",
    annotations: ADDS,
    says: "Taken in; it can be found from now on.",
  },
});

const itemSchema = z
  .strictObject({
    content: sourceText,
    role: role.optional().meta({ description: "Who said it.", default: "user" }),
    speaker: speaker.nullish(),
    session_id: sessionIdIn,
    metadata: metadataIn,
    scope: z.enum(SCOPES).nullish().meta({ default: "personal" }),
    event_time: instantIn.nullish().meta({ description: SAID }),
  })
  .meta({ id: "IngestItem" });

const ingestFastOperation = defineOperation({
  name: "ingest_fast",
  summary: "Admit many texts at once",
  description:
    "Keeps all items durably in one step, or none; they can be found once processed. With an Idempotency-Key a retry adds nothing.",
  request: {
    items: parsed(
      field(
        z.array(itemSchema).min(1),
        z
          .array(itemSchema.extend({ role: role.nullish() }))
          .meta({ description: "At least one.", minItems: 1 }),
      ),
      (items) =>
        items.map((item) => ({
          ...camelKeys(item),
          role: item.role ? parseRole(item.role) : undefined,
          scope: item.scope ?? undefined,
        })),
    ),
    user_id: owner,
    request_id: retryId(
      "UUID; a retry with the same key and items returns the same events.",
      "UUID that you choose; a retry with the same id and items stores nothing twice.",
    ),
  },
  run: async ({ engine }, input) => {
    if (input.items.length === 0) throw invalid("items", "has 0 entries; it must have at least 1");
    return engine().ingestFastMany(input);
  },
  answer: noted(
    view<readonly Uuid[]>()({
      eventIds: told(list(uuid), (ids) => ids),
      accepted: told(natural, (ids) => ids.length),
    }),
    { id: "FastIngestReceipt" },
  ),
  http: { route: "post /v1/ingest/fast", body: "FastIngestRequest", statuses: [409] },
  mcp: {
    tool: "memory_ingest_fast_many",
    title: "Store many texts quickly",
    description:
      "Keep many texts at once, such as the turns of a conversation; all or none. " +
      "They are found after memory_process_materializations. For a single statement use memory_store.",
    annotations: ADDS,
    says: "Kept. Call memory_process_materializations to make them findable.",
  },
});

const processOperation = defineOperation({
  name: "process_materializations",
  summary: "Index admitted texts",
  description: "Makes admitted texts findable until all are done or the budget ends.",
  request: {
    user_id: owner,
    budget_ms: withDefault(count, 1000, "Milliseconds to spend; 0 only counts."),
  },
  run: ({ engine }, input) => engine().processPending(input),
  answer: processingResultForm,
  http: { route: "post /v1/materializations/process", body: "ProcessRequest" },
  mcp: {
    tool: "memory_process_materializations",
    title: "Index stored texts",
    description:
      "Make the texts of memory_ingest_fast_many findable. Call it again while some are pending.",
    annotations: CHANGES,
    says: ({ pending }) => (pending === 0 ? undefined : "Call it again for the rest."),
  },
});

/** The operations that take in memories and texts. */
export const STORE_OPERATIONS = part(
  "writing",
  storeOperation,
  ingestOperation,
  ingestFastOperation,
  processOperation,
);
