import { parseId, parseOwner } from "../../domain/arguments.ts";
import { openChecksummed } from "../../domain/checksummed.ts";
import { erasedBy } from "../../domain/erasure.ts";
import { SvcError } from "../../domain/errors.ts";
import type { MemoryEvent } from "../../domain/event.ts";
import { EXTRACTION_OPERATION, extractionRecordId } from "../../domain/extraction/records.ts";
import { ALL_OWNERS } from "../../domain/owner.ts";
import { parseInstant } from "../../lib/instant.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { EventLog } from "../../ports/store/event-log.ts";
import type { ExtractionQueue } from "../../ports/store/extraction-queue.ts";
import type { EngineDeps } from "../deps.ts";
import type { NamedRecords } from "../owner-names.ts";
import type { ExtractionRecord, ExtractionStatus } from "./api.ts";

/**
 * What was extracted from an event. Undefined for an unknown event, one of another owner, or one without an extraction.
 * @throws SvcError invalid_argument; storage_failed if the record is damaged or belongs to another text
 */
export async function getExtraction(
  { store }: Pick<EngineDeps<EventLog & NamedRecords>, "store">,
  eventId: string,
  userId: string | undefined,
): Promise<ExtractionRecord | undefined> {
  const id = parseId(eventId, "event_id");
  const event = await store.event(id, parseOwner(userId));
  if (event === undefined) return undefined;
  const operation = await store.auditRecord(extractionRecordId(id), ALL_OWNERS);
  if (operation === undefined || erasedBy(operation.payload) !== undefined) return undefined;
  if (operation.opType !== EXTRACTION_OPERATION) throw damaged(id);
  const names = await store.owners.names(event.userId);
  const known = new Set(names.map(({ userId: name }) => name));
  return toRecord(openChecksummed(operation.payload), event, known);
}

/**
 * How far extraction from an event has come. Undefined for an unknown event, one of another owner, or one without such work.
 * @throws SvcError invalid_argument
 */
export async function extractionStatus(
  { store }: Pick<EngineDeps<ExtractionQueue>, "store">,
  eventId: string,
  userId: string | undefined,
): Promise<ExtractionStatus | undefined> {
  return await store.extractionJob(parseId(eventId, "event_id"), parseOwner(userId));
}

function toRecord(
  record: JsonObject,
  event: MemoryEvent,
  names: ReadonlySet<unknown>,
): ExtractionRecord {
  const created = parseInstant(textOf(record["created_at"], event));
  const dropped = record["dropped"];
  const isOfEvent =
    record["schema_version"] === 1 &&
    record["event_id"] === event.id &&
    names.has(record["user_id"]) &&
    record["scope"] === event.scope &&
    record["content_hash"] === event.contentHash;
  if (!isOfEvent || typeof created === "string") throw damaged(event.id);
  return {
    schemaVersion: 1,
    groundingPolicy: textOf(record["grounding_policy"], event),
    eventId: event.id,
    userId: event.userId,
    scope: event.scope,
    contentHash: event.contentHash,
    provider: textOf(record["provider"], event),
    model: textOf(record["model"], event),
    promptVersion: optionalTextOf(record["prompt_version"], event),
    result: record["result"] ?? null,
    dropped: isObject(dropped) ? dropped : undefined,
    createdAt: created.instant,
    batchId: optionalTextOf(record["batch_id"], event),
  };
}

function optionalTextOf(value: unknown, event: MemoryEvent): string | undefined {
  return value === undefined || value === null ? undefined : textOf(value, event);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown, event: MemoryEvent): string {
  if (typeof value !== "string") throw damaged(event.id);
  return value;
}

function damaged(eventId: Uuid): SvcError {
  return new SvcError(
    "storage_failed",
    `the extraction record of event ${eventId} does not match the event; run: svc doctor`,
  );
}
