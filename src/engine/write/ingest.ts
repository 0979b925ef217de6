import { parseOptionalBoolean, parseOptionalId, parseUserId } from "../../domain/arguments.ts";
import { checksummed, openChecksummed } from "../../domain/checksummed.ts";
import { parseRole } from "../../domain/enums.ts";
import { erasedBy, forgottenSince } from "../../domain/erasure.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import { type MemoryEvent, parseBlobs } from "../../domain/node.ts";
import { FIRST_PERSON_OWNER_KEY, speakerError } from "../../domain/speaker.ts";
import { sha256Hex, uuidV5 } from "../../lib/hashing.ts";
import { canonicalJson, type Json, type JsonObject } from "../../lib/json.ts";
import { asUuid, type Uuid } from "../../lib/uuid.ts";
import type { EventLog } from "../../ports/store/events.ts";
import type { AuditRecord, EventBlob } from "../../ports/store/records.ts";
import type { EngineDeps } from "../deps.ts";
import { type NamedRecords, operationIdFor, operationOf } from "../owners.ts";
import type {
  ExtractionStart,
  FastIngestInput,
  FastIngestManyInput,
  IngestBatchInput,
  IngestInput,
  IngestMessage,
} from "./api.ts";
import { draftEvent, type EventDraft, stampsFor, toEvent } from "./plan.ts";
import { type StoreDeps, type StoreOptions, store } from "./store.ts";
import { at, entryOf, storeAll } from "./store-many.ts";

type IngestDeps = StoreDeps & {
  /** Undefined: nothing is extracted. */
  readonly extractions: ExtractionStart | undefined;
};

export type KeptWith = Pick<StoreOptions, "eventId" | "blobs">;

/**
 * Admits a message: as an event if it is extracted, else as a note with the id of its event.
 * @throws SvcError as `store`; extraction_failed
 */
export async function ingest(
  deps: IngestDeps,
  input: IngestInput,
  kept: KeptWith = {},
): Promise<Uuid> {
  const isAwaited = parseOptionalBoolean(input.waitForExtraction, "wait_for_extraction") ?? false;
  const { extractions } = deps;
  if (extractions === undefined) return await storeMessage(deps, input, kept);
  const blobs = parseBlobs(kept.blobs, deps.settings);
  const draft = draftMessage(input);
  const stamp = await stampsFor(deps, draft.userId);
  const event = toEvent(draft, kept.eventId ?? deps.ids.next(), stamp());
  await admit(
    deps,
    [event],
    blobs.map((blob) => ({ ...blob, event: event.id })),
  );
  if (isAwaited) await extractions.waitFor([event]);
  else extractions.queued(event);
  return event.id;
}

/** Admits messages of a session in order, all checked first. @throws SvcError as `ingest`; messages begin with `messages[i]` */
export async function ingestBatch(
  deps: IngestDeps,
  input: IngestBatchInput,
): Promise<readonly Uuid[]> {
  const isAwaited = parseOptionalBoolean(input.waitForExtraction, "wait_for_extraction") ?? false;
  if (!Array.isArray(input.messages)) throw invalid("messages", "must be a list");
  const inputs = input.messages.map((message, index) => inputOf(message, input, index));
  const drafts = inputs.map((one, index) =>
    at(`messages[${index}]`, () => draftMessage(one), SHARED),
  );
  const { extractions } = deps;
  if (extractions === undefined) {
    const extras = inputs.map(attributionOf);
    const optionsOf = (index: number) => ({ extra: extras[index] ?? {}, isRawNote: true });
    const items = inputs.map(messageOf);
    const { memories } = await storeAll(deps, { items, userId: input.userId }, optionsOf);
    return memories.map(({ eventId }) => eventId);
  }
  const [sample] = drafts;
  if (sample === undefined) return [];
  const stamp = await stampsFor(deps, sample.userId);
  const events = drafts.map((draft) => toEvent(draft, deps.ids.next(), stamp()));
  await admit(deps, events);
  if (isAwaited) await extractions.waitFor(events);
  else for (const event of events.slice(0, 1)) extractions.soon(event);
  return events.map(({ id }) => id);
}

async function storeMessage(deps: StoreDeps, input: IngestInput, kept?: KeptWith): Promise<Uuid> {
  const { eventId } = await store(deps, messageOf(input), {
    ...kept,
    extra: attributionOf(input),
    isRawNote: true,
  });
  return eventId;
}

async function admit(
  { store: pack }: StoreDeps,
  events: readonly MemoryEvent[],
  blobs?: readonly EventBlob[],
): Promise<void> {
  await pack.admit({ events, blobs, auditRecords: [], leaseJobs: false, extracts: true });
}

function draftMessage(input: IngestInput): EventDraft {
  return draftEvent(messageOf(input), input.userId, attributionOf(input));
}

function messageOf(input: IngestInput) {
  return {
    content: input.content,
    userId: input.userId,
    role: input.role === undefined ? undefined : parseRole(input.role),
    speaker: input.speaker,
    sessionId: input.sessionId,
    metadata: input.metadata,
    eventTime: input.eventTime,
    scope: input.scope ?? undefined,
  };
}

const MESSAGE_KEYS = new Set("content role speaker firstPersonOwner metadata eventTime".split(" "));
const ITEM_KEYS = new Set("content role speaker sessionId scope metadata eventTime".split(" "));
/** Fields that all messages of a batch share. */
const SHARED: ReadonlySet<unknown> = new Set(["user_id", "session_id", "scope"]);

function inputOf(message: unknown, batch: IngestBatchInput, index: number): IngestInput {
  const path = `messages[${index}]`;
  // SAFETY: `draftMessage` checks every member that it reads.
  const given = entryOf(message, path, MESSAGE_KEYS, "a message") as IngestMessage;
  if (given.role === undefined) throw invalid(`${path}.role`, "is missing; say who said it");
  const { userId, sessionId, scope } = batch;
  return { ...given, userId, sessionId, scope };
}

/** The first person of a message. @throws SvcError invalid_argument; invalid_speaker */
function attributionOf(input: IngestInput): Readonly<Record<string, Json>> {
  const isOwner = parseOptionalBoolean(input.firstPersonOwner, "first_person_owner") ?? false;
  if (!isOwner) return {};
  const role = input.role === undefined ? "user" : parseRole(input.role);
  if (role !== "user" && role !== "human") {
    throw speakerError(
      "first_person_owner",
      `the owner does not speak as ${role}; leave it out, or use role user or human`,
    );
  }
  if (input.speaker !== undefined && input.speaker !== null) {
    throw speakerError(
      "first_person_owner",
      "a message with a speaker is that person's; leave one of the two out",
    );
  }
  return { [FIRST_PERSON_OWNER_KEY]: true };
}

/** Admits an event without indexing it. */
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
 * Admits events in one transaction; a repeated `requestId` gives the ids of the first call.
 * @throws SvcError invalid_argument; invalid_speaker; request_conflict
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
  const operationId = await operationIdFor(deps.store, userId, batchIdOf(requestId));
  const record = {
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
  return earlier === undefined ? ids : replay(earlier, requestId, record.input_sha256);
}

function batchIdOf(requestId: Uuid): (name: string) => Uuid {
  return (name) => uuidV5("url", JSON.stringify(["svc:fast-ingest-batch:v1", name, requestId]));
}

/** Whether what `ingestFastMany` stored for a request has been forgotten. */
export async function isForgottenBatch(
  store: NamedRecords,
  userId: string,
  requestId: Uuid,
): Promise<boolean> {
  const earlier = await operationOf(store, userId, batchIdOf(requestId));
  return earlier !== undefined && erasedBy(earlier.payload) !== undefined;
}

function draftItem(item: unknown, userId: string, index: number): EventDraft {
  const path = `items[${index}]`;
  // SAFETY: `draftEvent` checks every member that it reads.
  const given = entryOf(item, path, ITEM_KEYS, "an item") as FastIngestManyInput["items"][number];
  return at(path, () => draftEvent(given, userId));
}

/** Identifies a batch by its items in order. */
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

function replay(earlier: AuditRecord, requestId: Uuid, inputSha256: string): readonly Uuid[] {
  if (erasedBy(earlier.payload) !== undefined) throw forgottenSince(requestId);
  const saved = openChecksummed(earlier.payload);
  if (saved["input_sha256"] !== inputSha256) {
    throw new SvcError(
      "request_conflict",
      `request_id ${requestId} was used before with different items; use a new one`,
      { request_id: requestId },
    );
  }
  const ids = saved["event_ids"];
  if (!Array.isArray(ids)) throw new SvcError("storage_failed", "a batch record has no event ids");
  return ids.map((id) => asUuid(String(id)));
}
