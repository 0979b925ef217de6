import { parseOptionalInteger, parseText, parseUserId } from "../../domain/arguments.ts";
import { checksummed, openChecksummed } from "../../domain/checksummed.ts";
import { parseMember } from "../../domain/enums.ts";
import { erasedBy, forgottenSince } from "../../domain/erasure.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import {
  type AnswerCitations,
  CITATION_METHODS,
  citationsForm,
  type KeptReceipt,
} from "../../domain/records/receipt.ts";
import { FormError } from "../../lib/form.ts";
import { uuidV5 } from "../../lib/hashing.ts";
import type { JsonObject } from "../../lib/json.ts";
import { asUuid, parseUuid, type Uuid } from "../../lib/uuid.ts";
import type { EventLog } from "../../ports/store/events.ts";
import type { AuditLog, AuditRecord } from "../../ports/store/records.ts";
import type { Clock, IdSource } from "../../ports/system.ts";
import { type NamedRecords, operationOf } from "../owners.ts";
import { recordPages } from "../pages.ts";
import type { AnswerCitationsInput, AnswerCitationsQuery } from "./api.ts";
import type { ReceiptKeeper } from "./keep.ts";

const OPERATION = "ANSWER_CITATIONS_RECORDED";
const LIMITS = { answerIdChars: 512, citedNodes: 1000, page: 1000, defaultPage: 100 } as const;

export type CitationDeps = {
  readonly store: EventLog & NamedRecords;
  readonly receipts: Pick<ReceiptKeeper, "read">;
  readonly clock: Clock;
  readonly ids: IdSource;
};

/** The identity of equal reports. */
type Submission = Pick<
  AnswerCitations,
  "citationId" | "requestId" | "answerId" | "citedNodeIds" | "answerSha256" | "method"
>;

/**
 * Records which memories an answer was made from, once: an exact retry returns the first record. The receipt alone decides what
 * may be cited, and nothing else is read.
 * @throws SvcError invalid_argument; not_found without an owned receipt; bad_citation for a memory whose text was not in the
 *   context; request_conflict if the citation's id was used with different inputs
 */
export async function recordAnswerCitations(
  deps: CitationDeps,
  input: AnswerCitationsInput,
  userId: string,
): Promise<AnswerCitations> {
  const owner = parseUserId(userId);
  const submission = parseSubmission(input, deps.ids);
  const { citationId } = submission;
  const earlier = await operationOf(deps.store, owner, (name) => operationId(name, citationId));
  // A retry is answered even if the receipt no longer exists.
  if (earlier !== undefined) return firstRecord(earlier, submission);
  const kept = await deps.receipts.read(submission.requestId, owner);
  if (kept === undefined) throw noReceipt(submission);
  requireCitable(submission.citedNodeIds, kept);
  const id = operationId(owner, citationId);
  const record: AnswerCitations = {
    ...submission,
    schemaVersion: 1,
    userId: owner,
    recordedAt: deps.clock.now(),
    receiptChecksum: kept.checksum,
    contextSha256: kept.receipt.contextSha256,
  };
  const operation: AuditRecord = {
    id,
    opType: OPERATION,
    targetId: submission.citationId,
    payload: checksummed(toJsonObject(record)),
    actorId: owner,
    namespaceId: owner,
    createdAt: record.recordedAt,
  };
  // The cited memory may have been forgotten since the receipt was read, and the receipt with it.
  const named = { userId: owner, ids: submission.citedNodeIds, refusal: noReceipt(submission) };
  const other = await deps.store.admitOnce(
    { events: [], auditRecords: [operation], named, leaseJobs: false },
    id,
  );
  return other === undefined ? record : firstRecord(other, submission);
}

function noReceipt({ requestId }: Submission): SvcError {
  return new SvcError("not_found", `there is no receipt of a retrieval ${requestId}`, {
    kind: "retrieval",
    id: requestId,
  });
}

/** A recorded report. Undefined for an unknown one, or one of another owner. @throws SvcError invalid_argument, storage_failed */
export async function getAnswerCitations(
  { store }: { readonly store: NamedRecords },
  citationId: string,
  userId: string,
): Promise<AnswerCitations | undefined> {
  const owner = parseUserId(userId);
  const id = parseId(citationId, "citation_id");
  const operation = await operationOf(store, owner, (name) => operationId(name, id));
  return operation === undefined || erasedBy(operation.payload) !== undefined
    ? undefined
    : toRecord(operation);
}

/**
 * Recorded reports of an owner by ascending id; ends early at the size of a page, with at least one report if there is one.
 * @throws SvcError invalid_argument, storage_failed
 */
export async function listAnswerCitations(
  { store }: { readonly store: AuditLog },
  query: AnswerCitationsQuery,
): Promise<readonly AnswerCitations[]> {
  const userId = parseUserId(query.userId);
  const afterTargetId = parseOptionalId(query.afterId, "after_id");
  const limit = parseOptionalInteger(query.limit, "limit", 1, LIMITS.page) ?? LIMITS.defaultPage;
  const { items } = await store.auditRecordsOf({ opType: OPERATION, userId, afterTargetId, limit });
  return items.filter(({ payload }) => erasedBy(payload) === undefined).map(toRecord);
}

/** The requests whose answers cite a memory, by what was recorded for its owner. @throws SvcError storage_failed */
export async function requestsThatCite(
  { store }: { readonly store: Pick<AuditLog, "auditRecordsOf"> },
  userId: string,
  nodeId: Uuid,
): Promise<ReadonlySet<Uuid>> {
  const requests = new Set<Uuid>();
  const page = { opType: OPERATION, userId, mentions: nodeId, limit: LIMITS.page };
  for await (const records of recordPages(store, page)) {
    for (const { requestId, citedNodeIds } of records.map(toRecord)) {
      if (citedNodeIds.includes(nodeId)) requests.add(requestId);
    }
  }
  return requests;
}

const INPUT_KEYS: ReadonlySet<string> = new Set([
  "citationId",
  "requestId",
  "answerId",
  "citedNodeIds",
  "answerSha256",
  "method",
] satisfies (keyof AnswerCitationsInput)[]);

function parseSubmission(input: AnswerCitationsInput, ids: IdSource): Submission {
  if (typeof input !== "object" || input === null) throw invalid("citations", "must be an object");
  for (const key of Object.keys(input)) {
    if (!INPUT_KEYS.has(key)) throw invalid(key, "is not a field of answer citations");
  }
  return {
    citationId: parseOptionalId(input.citationId, "citation_id") ?? ids.next(),
    requestId: parseId(input.requestId, "request_id"),
    answerId: parseAnswerId(input.answerId),
    citedNodeIds: parseCited(input.citedNodeIds),
    answerSha256: parseHash(input.answerSha256),
    method: parseMember(CITATION_METHODS, input.method ?? "model_reported", "method"),
  };
}

function parseAnswerId(value: unknown): string {
  const answerId = parseText(value, "answer_id");
  if (answerId.trim() === "") throw invalid("answer_id", "must not be blank");
  const length = [...answerId].length;
  if (length > LIMITS.answerIdChars) {
    throw invalid("answer_id", `has ${length} characters, at most ${LIMITS.answerIdChars}`);
  }
  return answerId;
}

function parseCited(value: unknown): readonly Uuid[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalid("cited_node_ids", "must be a list");
  if (value.length > LIMITS.citedNodes) {
    throw invalid("cited_node_ids", `has ${value.length} ids, at most ${LIMITS.citedNodes}`);
  }
  const ids = value.map((item, index) => parseId(item, `cited_node_ids[${index}]`));
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  if (repeated !== undefined) throw invalid("cited_node_ids", `names ${repeated} twice`);
  return ids;
}

function parseHash(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && /^[0-9a-f]{64}$/.test(value)) return value;
  throw invalid("answer_sha256", "is not a SHA-256 in 64 lower-case hex digits");
}

function parseOptionalId(value: unknown, field: string): Uuid | undefined {
  return value === undefined || value === null ? undefined : parseId(value, field);
}

function parseId(value: unknown, field: string): Uuid {
  const id = typeof value === "string" ? parseUuid(value) : undefined;
  if (id === undefined) throw invalid(field, "is not a UUID");
  return id;
}

/** Retries yield one operation, and owners cannot collide. */
function operationId(userId: string, citationId: Uuid): Uuid {
  return uuidV5("url", JSON.stringify(["svc:answer-citations:v1", userId, citationId]));
}

function requireCitable(cited: readonly Uuid[], { receipt }: KeptReceipt): void {
  const citable = new Map(receipt.candidates.map((candidate) => [candidate.nodeId, candidate]));
  for (const id of cited) {
    const candidate = citable.get(id);
    const why =
      candidate === undefined
        ? "was not among the results"
        : !candidate.inContext
          ? "was not in the context"
          : !candidate.hasContent
            ? "was in the context without its text"
            : undefined;
    if (why === undefined) continue;
    throw new SvcError("bad_citation", `cited_node_ids: ${id} ${why} of this retrieval`, {
      field: "cited_node_ids",
    });
  }
}

function firstRecord(operation: AuditRecord, submission: Submission): AnswerCitations {
  if (erasedBy(operation.payload) !== undefined) throw forgottenSince(submission.citationId);
  const record = toRecord(operation);
  if (identity(record) === identity(submission)) return record;
  const { citationId } = record;
  throw new SvcError(
    "request_conflict",
    `citation_id ${citationId} was used before with different inputs; use a new one`,
    { citation_id: citationId },
  );
}

function identity(submission: Submission): string {
  return JSON.stringify([
    submission.citationId,
    submission.requestId,
    submission.answerId,
    submission.citedNodeIds,
    submission.answerSha256 ?? null,
    submission.method,
  ]);
}

function toJsonObject(record: AnswerCitations): JsonObject {
  const json = citationsForm.json(record);
  // SAFETY: the form is that of an object.
  return json as JsonObject;
}

function toRecord(operation: AuditRecord): AnswerCitations {
  try {
    return citationsForm.read(openChecksummed(operation.payload), "citations");
  } catch (error) {
    if (!(error instanceof FormError)) throw error;
    const message = `the answer citations ${operation.targetId} cannot be read: ${error.message}`;
    throw new SvcError("storage_failed", message, { citation_id: asUuid(operation.targetId) });
  }
}
