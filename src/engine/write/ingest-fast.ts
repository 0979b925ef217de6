import { parseOptionalId, parseUserId } from "../../domain/arguments.ts";
import { checksummed, openChecksummed } from "../../domain/checksummed.ts";
import { erasedBy, forgottenSince } from "../../domain/erasure.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import { canonicalJson, type JsonObject } from "../../lib/json.ts";
import { uuidV5 } from "../../lib/new-uuid.ts";
import { asUuid, type Uuid } from "../../lib/uuid.ts";
import type { AuditRecord } from "../../ports/store/audit-record.ts";
import type { EventLog } from "../../ports/store/event-log.ts";
import type { EngineDeps } from "../deps.ts";
import { type NamedRecords, operationIdFor } from "../owner-names.ts";
import type { FastIngestInput, FastIngestManyInput } from "./api.ts";
import { draftEvent, type EventDraft, toEvent } from "./plan-event.ts";
import { stampsFor } from "./stamp.ts";

/** Admits one event durably without indexing it. @returns the event's id */
export async function ingestFast(
  deps: EngineDeps<EventLog>,
  input: FastIngestInput,
): Promise<Uuid> {
  const draft = draftEvent(input, input.userId);
  const stamp = await stampsFor(deps, draft.userId);
  const event = toEvent(draft, deps.ids.next(), stamp());
  await deps.store.admit({ events: [event], auditRecords: [], leaseJobs: false });
  return event.id;
}

/**
 * Admits a list of events in one transaction. The whole list is checked and copied before anything is written.
 * @returns event ids in input order; if `requestId` repeats a call, those of the first one
 * @throws SvcError invalid_argument, invalid_speaker (message begins with `items[i]`), request_conflict
 */
export async function ingestFastMany(
  deps: EngineDeps<EventLog & NamedRecords>,
  input: FastIngestManyInput,
): Promise<readonly Uuid[]> {
  const userId = parseUserId(input.userId);
  if (!Array.isArray(input.items)) throw invalid("items", "must be a list");
  const drafts = input.items.map((item, index) => draftItem(item, userId, index));
  const requestId = parseOptionalId(input.requestId, "request_id");
  if (drafts.length === 0) return [];
  const now = deps.clock.now();
  const stamp = await stampsFor(deps, userId);
  const events = drafts.map((draft) => toEvent(draft, deps.ids.next(), stamp()));
  const ids = events.map(({ id }) => id);
  if (requestId === undefined) {
    await deps.store.admit({ events, auditRecords: [], leaseJobs: false });
    return ids;
  }
  const operationId = await operationIdFor(deps.store, userId, (name) =>
    uuidV5("url", JSON.stringify(["svc:fast-ingest-batch:v1", name, requestId])),
  );
  const record: BatchRecord = {
    schema_version: 1,
    operation_id: operationId,
    request_id: requestId,
    user_id: userId,
    input_sha256: inputHash(drafts),
    event_ids: ids,
    admitted_at: now,
  };
  const operation: AuditRecord = {
    id: operationId,
    opType: "FAST_INGEST_BATCH",
    targetId: requestId,
    payload: checksummed(record),
    actorId: userId,
    namespaceId: undefined,
    createdAt: now,
  };
  const earlier = await deps.store.admitOnce(
    { events, auditRecords: [operation], leaseJobs: false },
    operationId,
  );
  return earlier === undefined ? ids : replay(earlier, record);
}

type BatchRecord = {
  readonly schema_version: 1;
  readonly operation_id: string;
  readonly request_id: string;
  readonly user_id: string;
  readonly input_sha256: string;
  readonly event_ids: readonly string[];
  readonly admitted_at: string;
};

const ITEM_KEYS: ReadonlySet<string> = new Set([
  "content",
  "role",
  "speaker",
  "sessionId",
  "scope",
  "metadata",
  "eventTime",
] satisfies (keyof FastIngestManyInput["items"][number])[]);

function draftItem(item: unknown, userId: string, index: number): EventDraft {
  const path = `items[${index}]`;
  if (typeof item !== "object" || item === null || Array.isArray(item)) {
    throw invalid(path, "must be an object");
  }
  for (const key of Object.keys(item)) {
    if (!ITEM_KEYS.has(key)) throw invalid(`${path}.${key}`, "is not a field of an item");
  }
  try {
    // SAFETY: draftEvent checks every member it reads.
    return draftEvent(item as FastIngestManyInput["items"][number], userId);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const field = `${path}.${String(error.data["field"] ?? "")}`;
    throw new SvcError(error.code, `${path}.${error.message}`, { ...error.data, field });
  }
}

/** What identifies a batch: every item's content, role, session, scope, metadata and time, in order. */
function inputHash(drafts: readonly EventDraft[]): string {
  const items: JsonObject[] = drafts.map((draft) => ({
    content: draft.content,
    role: draft.role,
    session_id: draft.sessionId ?? null,
    scope: draft.scope,
    metadata: draft.metadata ?? null,
    event_time: draft.eventTime ?? null,
  }));
  return sha256Hex(canonicalJson(items));
}

function replay(earlier: AuditRecord, record: BatchRecord): readonly Uuid[] {
  if (erasedBy(earlier.payload) !== undefined) throw forgottenSince(record.request_id);
  const saved = openChecksummed(earlier.payload);
  if (saved["input_sha256"] !== record.input_sha256) {
    throw new SvcError(
      "request_conflict",
      `request_id ${record.request_id} was used before with different items; use a new one`,
      { request_id: record.request_id },
    );
  }
  const ids = saved["event_ids"];
  if (!Array.isArray(ids)) throw new SvcError("storage_failed", "a batch record has no event ids");
  return ids.map((id) => asUuid(String(id)));
}
