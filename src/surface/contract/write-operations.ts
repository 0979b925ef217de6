import { invalid } from "../../domain/errors.ts";
import type { Uuid } from "../../lib/uuid.ts";
import { requireOwner } from "./caller.ts";
import {
  type IngestWire,
  ingestAnswerSchema,
  ingestBodySchema,
  ingestHeadersSchema,
  ingestToolSchema,
  toIngestItems,
} from "./ingest-wire.ts";
import {
  type ProcessWire,
  processBodySchema,
  processingResultSchema,
  toResultWire,
} from "./job-wire.ts";
import { defineOperation } from "./operation.ts";
import { readIdempotencyKey } from "./operation-parts.ts";
import {
  type StoreWire,
  storeAnswerSchema,
  storeBodySchema,
  storeToolSchema,
  toStoreAnswer,
  toStoreInput,
} from "./store-wire.ts";
import { parseWire } from "./wire-issues.ts";

const adds = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
} as const;

export const storeOperation = defineOperation({
  name: "store",
  summary: "Store one memory",
  description: "Keeps one memory and waits until it can be found.",
  run: (context, wire: StoreWire) =>
    context
      .engine()
      .storeWithReceipt(toStoreInput(wire, requireOwner(context.caller, wire.user_id))),
  http: {
    method: "post",
    path: "/v1/store",
    request: { body: storeBodySchema },
    response: storeAnswerSchema,
    statuses: [],
    read: (parts) => parseWire(storeBodySchema, parts.body, "body"),
    write: toStoreAnswer,
  },
  mcp: {
    tool: "memory_store",
    title: "Store a memory",
    description:
      "Remember one thing for later conversations: a fact, preference, decision, task, instruction or note. " +
      "Write it so that it can be understood alone, with names instead of pronouns. It can be found as soon as this returns.",
    annotations: adds,
    input: storeToolSchema,
    output: storeAnswerSchema,
    needsOwner: true,
    read: (args) => parseWire(storeToolSchema, args, "arguments"),
    write: toStoreAnswer,
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
    response: ingestAnswerSchema,
    statuses: [409],
    read: (parts) => ({
      ...parseWire(ingestBodySchema, parts.body, "body"),
      request_id: readIdempotencyKey(parts.idempotencyKey),
    }),
    write: toIngestAnswer,
  },
  mcp: {
    tool: "memory_ingest_fast_many",
    title: "Store many texts quickly",
    description:
      "Keep many texts at once, for example the turns of a conversation, without waiting for them to be indexed. " +
      "All are kept or none. Call memory_process_materializations afterwards to make them findable at once.",
    annotations: adds,
    input: ingestToolSchema,
    output: ingestAnswerSchema,
    needsOwner: true,
    read: (args) => parseWire(ingestToolSchema, args, "arguments"),
    write: toIngestAnswer,
  },
});

function toIngestAnswer(ids: readonly Uuid[]): { event_ids: Uuid[]; accepted: number } {
  return { event_ids: [...ids], accepted: ids.length };
}

export const processOperation = defineOperation({
  name: "process_materializations",
  summary: "Index admitted texts",
  description: "Makes admitted texts findable until all are done or the budget ends.",
  run: (context, wire: ProcessWire) =>
    context.engine().processPending({
      userId: requireOwner(context.caller, wire.user_id),
      budgetMs: wire.budget_ms,
    }),
  http: {
    method: "post",
    path: "/v1/materializations/process",
    request: { body: processBodySchema },
    response: processingResultSchema,
    statuses: [],
    read: (parts) => parseWire(processBodySchema, parts.body, "body"),
    write: toResultWire,
  },
  mcp: {
    tool: "memory_process_materializations",
    title: "Index stored texts",
    description:
      "Make texts from memory_ingest_fast_many findable. Returns how many were done and how many are left; call again while some are pending.",
    annotations: { ...adds, idempotentHint: true },
    input: processBodySchema,
    output: processingResultSchema,
    needsOwner: true,
    read: (args) => parseWire(processBodySchema, args, "arguments"),
    write: toResultWire,
  },
});
