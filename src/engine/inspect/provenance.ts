import {
  LIMITS,
  parseId,
  parseOptionalInteger,
  parseOptionalText,
  parseOwner,
} from "../../domain/arguments.ts";
import { openChecksummed } from "../../domain/checksummed.ts";
import { erasedBy } from "../../domain/erasure.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import { EXTRACTION_OPERATION, extractionRecordId } from "../../domain/extraction/work.ts";
import type { MemoryEvent, MemoryNode } from "../../domain/node.ts";
import { ALL_OWNERS } from "../../domain/owner.ts";
import { fromBase64Url, toBase64Url } from "../../lib/encoding.ts";
import { parseInstant } from "../../lib/instant.ts";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import { parseUuid, type Uuid } from "../../lib/uuid.ts";
import type { EventLog } from "../../ports/store/events.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type {
  AuditLog,
  AuditRecord,
  AuditRecordsOnTarget,
  Page,
} from "../../ports/store/records.ts";
import type { ExtractionQueue } from "../../ports/store/work.ts";
import type { EngineDeps } from "../deps.ts";
import type { NamedRecords } from "../owners.ts";
import type { ExtractionRecord, ExtractionStatus, Provenance, ProvenanceOptions } from "./api.ts";

const DEFAULT_PAGE = 100;
/** Operations read to find out whether there is another page. */
const LOOK_AHEAD = 10;

/** Callers choose the ids of these targets: an equal memory id proves nothing. */
const ON_CALLERS_IDS: ReadonlySet<string> = new Set([
  "FAST_INGEST_BATCH",
  "ANSWER_CITATIONS_RECORDED",
]);

type Position = NonNullable<AuditRecordsOnTarget["after"]>;
type ProvenanceDeps = Pick<EngineDeps<Graph & EventLog & AuditLog>, "store">;

/** Undefined for an unknown memory, or one of another owner. */
export async function getProvenance(
  deps: ProvenanceDeps,
  nodeId: string,
  options: ProvenanceOptions = {},
): Promise<Provenance | undefined> {
  const id = parseId(nodeId, "node_id");
  const owner = parseOwner(options.userId);
  const after = parseCursor(options.operationCursor);
  const limit =
    parseOptionalInteger(options.operationLimit, "operation_limit", 1, LIMITS.operationPageMax) ??
    DEFAULT_PAGE;
  const node = await deps.store.node(id, owner);
  if (node === undefined) return undefined;
  const [evidence, operations, contradictionEdges] = await Promise.all([
    readEvidence(deps, node),
    readAuditRecords(deps, { targetId: id, after, limit }),
    deps.store.contradictionsOf(id, node.userId),
  ]);
  const last = operations.items.at(-1);
  return {
    node,
    ...evidence,
    operations: operations.items,
    contradictionEdges,
    nextOperationCursor: operations.hasMore && last !== undefined ? toCursor(last) : undefined,
  };
}

/** Looks up all cited events, and shows those of the first page. */
async function readEvidence(
  { store }: ProvenanceDeps,
  node: MemoryNode,
): Promise<Pick<Provenance, "evidenceEvents" | "missingEvidenceRefs">> {
  const refs = [...new Set(node.evidenceRefs)];
  const met = new Set<Uuid>();
  const owned = new Set<Uuid>();
  let shown: ReadonlyMap<Uuid, MemoryEvent> | undefined;
  let rest = refs;
  while (rest.length > 0) {
    const { items, hasMore } = await store.eventsById(rest, node.userId);
    const own = items.filter(({ scope }) => scope === node.scope);
    for (const { id } of items) met.add(id);
    for (const { id } of own) owned.add(id);
    shown ??= new Map(own.map((event) => [event.id, event]));
    rest = hasMore ? rest.filter((ref) => !met.has(ref)) : [];
  }
  return {
    evidenceEvents: refs.flatMap((ref) => shown?.get(ref) ?? []),
    missingEvidenceRefs: refs.filter((ref) => !owned.has(ref)),
  };
}

/** At most `limit`; fewer if a page of the store ends early. */
async function readAuditRecords(
  { store }: ProvenanceDeps,
  { limit, ...from }: AuditRecordsOnTarget,
): Promise<Page<AuditRecord>> {
  const found: AuditRecord[] = [];
  let isFull = false;
  let { after } = from;
  for (;;) {
    // After a full page, looks for one more operation on the memory.
    const wanted: number = isFull ? LOOK_AHEAD : limit - found.length;
    const { items, hasMore } = await store.auditRecordsOn({ ...from, after, limit: wanted });
    const own = items.filter(({ opType }) => !ON_CALLERS_IDS.has(opType));
    if (isFull && own.length > 0) return { items: found, hasMore: true };
    found.push(...own);
    if (!hasMore) return { items: found, hasMore };
    isFull = found.length === limit || (found.length > 0 && items.length < wanted);
    after = items.at(-1);
  }
}

function toCursor({ createdAt, id }: AuditRecord): string {
  return toBase64Url(JSON.stringify([createdAt, id]));
}

function parseCursor(value: unknown): Position | undefined {
  const text = parseOptionalText(value, "operation_cursor");
  if (text === undefined) return undefined;
  const position = readPosition(fromBase64Url(text));
  if (position === undefined) {
    throw invalid(
      "operation_cursor",
      `${JSON.stringify(text.slice(0, 80))} is not the next_operation_cursor of an earlier page`,
    );
  }
  return position;
}

function readPosition(json: string | undefined): Position | undefined {
  const parts = json === undefined ? undefined : parseJson(json);
  if (!Array.isArray(parts) || parts.length !== 2) return undefined;
  const [createdAt, id]: unknown[] = parts;
  if (typeof createdAt !== "string" || typeof id !== "string") return undefined;
  const moment = parseInstant(createdAt);
  const uuid = parseUuid(id);
  return typeof moment === "string" || uuid === undefined
    ? undefined
    : { createdAt: moment.instant, id: uuid };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Undefined for an unknown event, or one without an extraction. @throws SvcError storage_failed for a damaged record */
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
    dropped: isJsonObject(dropped) ? dropped : undefined,
    createdAt: created.instant,
    batchId: optionalTextOf(record["batch_id"], event),
  };
}

function optionalTextOf(value: unknown, event: MemoryEvent): string | undefined {
  return value === undefined || value === null ? undefined : textOf(value, event);
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
