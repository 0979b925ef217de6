import { invalid } from "../../../domain/errors.ts";
import { processingResultForm } from "../../../domain/jobs.ts";
import { actorOf, requireOwner } from "../core/caller.ts";
import { defineOperation } from "../core/operation.ts";
import { ADDS, CHANGES, readIdempotencyKey } from "../core/operation-parts.ts";
import { parseWire } from "../core/wire-issues.ts";
import {
  type IngestWire,
  ingestAnswerView,
  ingestBodySchema,
  ingestHeadersSchema,
  ingestToolSchema,
  toIngestItems,
} from "./ingest-wire.ts";
import { type ProcessWire, processBodySchema, processToolSchema } from "./job-wire.ts";
import { tellIngestFast, tellProcessing, tellStore } from "./text.ts";
import {
  type StoreWire,
  storeAnswerView,
  storeBodySchema,
  storeToolSchema,
  toStoreInput,
} from "./wire.ts";

export const storeOperation = defineOperation({
  name: "store",
  summary: "Store one memory",
  description:
    "Keeps one memory and waits until it can be found. Answers with the memories that it may replace; those in supersedes it replaces at once.",
  run: (context, wire: StoreWire) => {
    const { caller, operator } = context;
    const actor = actorOf(caller, operator, undefined);
    return context
      .engine()
      .storeWithReceipt(toStoreInput(wire, requireOwner(caller, wire.user_id), actor));
  },
  http: {
    method: "post",
    path: "/v1/store",
    request: { body: storeBodySchema },
    response: storeAnswerView,
    statuses: [404],
    read: (parts) => parseWire(storeBodySchema, parts.body, "body"),
  },
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
    input: storeToolSchema,
    output: storeAnswerView,
    needsOwner: true,
    read: (args) => parseWire(storeToolSchema, args, "arguments"),
    tell: tellStore,
    about: ({ nodeId }) => nodeId,
  },
});

export const ingestFastOperation = defineOperation({
  name: "ingest_fast",
  summary: "Admit many texts at once",
  description:
    "Keeps all items durably in one step, or none; they can be found once processed. With an Idempotency-Key a retry adds nothing.",
  run: async (context, wire: IngestWire) => {
    const userId = requireOwner(context.caller, wire.user_id);
    if (wire.items.length === 0) throw invalid("items", "has 0 entries; it must have at least 1");
    return context.engine().ingestFastMany({
      items: toIngestItems(wire),
      userId,
      requestId: wire.request_id,
    });
  },
  http: {
    method: "post",
    path: "/v1/ingest/fast",
    request: { body: ingestBodySchema, headers: ingestHeadersSchema },
    response: ingestAnswerView,
    statuses: [409],
    read: (parts) => ({
      ...parseWire(ingestBodySchema, parts.body, "body"),
      request_id: readIdempotencyKey(parts.idempotencyKey),
    }),
  },
  mcp: {
    tool: "memory_ingest_fast_many",
    title: "Store many texts quickly",
    description:
      "Keep many texts at once, such as the turns of a conversation; all or none. " +
      "They are found after memory_process_materializations. For a single statement use memory_store.",
    toolSet: "full",
    annotations: ADDS,
    input: ingestToolSchema,
    output: ingestAnswerView,
    needsOwner: true,
    read: (args) => parseWire(ingestToolSchema, args, "arguments"),
    tell: tellIngestFast,
  },
});

export const processOperation = defineOperation({
  name: "process_materializations",
  summary: "Index admitted texts",
  description: "Makes admitted texts findable until all are done or the budget ends.",
  run: (context, wire: ProcessWire) =>
    context.engine().processPending({
      userId: requireOwner(context.caller, wire.user_id),
      budgetMs: wire.budget_ms ?? undefined,
    }),
  http: {
    method: "post",
    path: "/v1/materializations/process",
    request: { body: processBodySchema },
    response: processingResultForm,
    statuses: [],
    read: (parts) => parseWire(processBodySchema, parts.body, "body"),
  },
  mcp: {
    tool: "memory_process_materializations",
    title: "Index stored texts",
    description:
      "Make the texts of memory_ingest_fast_many findable. Call it again while some are pending; not needed after memory_store.",
    toolSet: "full",
    annotations: CHANGES,
    input: processToolSchema,
    output: processingResultForm,
    needsOwner: true,
    read: (args) => parseWire(processToolSchema, args, "arguments"),
    tell: tellProcessing,
  },
});
