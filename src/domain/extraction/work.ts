import { uuidV5 } from "../../lib/hashing.ts";
import { addSeconds, type Instant } from "../../lib/instant.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import { checksummed } from "../checksummed.ts";
import { type ExtractionJob, retryAfterSeconds } from "../jobs.ts";
import type { MemoryEvent } from "../node.ts";
import { storedSpeaker } from "../speaker.ts";
import { planIdOf } from "./plan/context.ts";
import { type DropCounts, type ExtractionResult, resultForm } from "./result.ts";

// State transitions of extraction work, shared by every store.

/** This is the last attempt. */
const TRIES = 4;

export type ExtractionWork = {
  readonly event_id: Uuid;
  readonly status: "pending" | "complete" | "failed";
  readonly attempts: number;
  readonly generation: number;
  readonly revision: number;
  readonly due: Instant | null;
  readonly last_error: string | null;
  readonly lease_owner: string | null;
  readonly lease_expires_at: Instant | null;
  readonly updated_at: Instant;
};

/** The id of the current revision's plan, whether or not it is kept. */
export function planIdOfWork(given: Pick<ExtractionWork, "event_id" | "revision">): Uuid {
  const { event_id: id, revision } = given;
  return planIdOf({ event: { id }, revision });
}

/** @param isKept whether an operation exists: the plan first, then the record of the answers */
export function jobOfWork(
  row: ExtractionWork,
  now: Instant,
  isKept: (id: Uuid) => boolean,
): ExtractionJob {
  const planId = planIdOfWork(row);
  const hasPlan = isKept(planId);
  const isRunning = row.status === "pending" && isHeld(row, now);
  return {
    eventId: row.event_id,
    status: isRunning ? "running" : row.status,
    phase: phaseOf(row, hasPlan, isKept),
    attempts: row.attempts,
    generation: row.generation,
    planId: hasPlan ? planId : undefined,
    planRevision: row.revision,
    leaseExpiresAt: isRunning ? (row.lease_expires_at ?? undefined) : undefined,
    nextAttemptAt: row.due ?? undefined,
    lastError: row.last_error ?? undefined,
    updatedAt: row.updated_at,
  };
}

function isHeld({ lease_owner, lease_expires_at }: ExtractionWork, now: Instant): boolean {
  return lease_owner !== null && lease_expires_at !== null && lease_expires_at > now;
}

function phaseOf(
  { status, event_id }: ExtractionWork,
  hasPlan: boolean,
  isKept: (id: Uuid) => boolean,
): ExtractionJob["phase"] {
  if (status === "complete") return "complete";
  if (hasPlan) return "publication";
  return isKept(extractionRecordId(event_id)) ? "preparation" : "extraction";
}

/** A piece of work after its release. */
export type LetGo = {
  readonly status: ExtractionWork["status"];
  readonly due: Instant | undefined;
  readonly lastError: string | undefined;
  readonly at: Instant;
};

/** A piece of work after an attempt that published nothing. */
export function afterTry(
  { attempts }: Pick<ExtractionWork, "attempts">,
  end: { readonly failure: string } | "cancelled",
  at: Instant,
): LetGo {
  if (end === "cancelled") return { status: "pending", due: at, lastError: "Cancelled", at };
  const isLast = attempts >= TRIES;
  return {
    status: isLast ? "failed" : "pending",
    due: isLast ? undefined : addSeconds(at, retryAfterSeconds(attempts)),
    lastError: end.failure,
    at,
  };
}

/** Which head of a lane a claim takes. */
type Wish = {
  readonly eventId?: Uuid | undefined;
  /** Highest queue position, inclusive. */
  readonly upTo?: number | undefined;
  /** Whether work that is not due yet is skipped. */
  readonly isDueOnly: boolean;
};

/** Whether a claim takes a lane's head that has no lease. */
export function fits(
  given: Pick<ExtractionWork, "event_id" | "due" | "updated_at"> & { readonly subject: number },
  { eventId, upTo, isDueOnly }: Wish,
  now: Instant,
): boolean {
  const { event_id, subject, due, updated_at } = given;
  if (eventId !== undefined && event_id !== eventId) return false;
  if (upTo !== undefined && subject > upTo) return false;
  // A time in the future was written before the clock was set back.
  return !isDueOnly || due === null || due <= now || updated_at > now;
}

/** Version of the checks (`check-turn.ts`), which every record names. Changes with the rules. */
const GROUNDING_POLICY = "speech_act_v14";
/** The kind of the operation that keeps what was extracted from an event. */
export const EXTRACTION_OPERATION = "EXTRACTION_VALIDATED";
/** The kind of the operation that keeps a request about several turns and its answer. */
const BATCH_OPERATION = "EXTRACTION_BATCH_RECORDED";

/** The id of an event's record. Only the first extraction of an event is recorded. */
export function extractionRecordId(eventId: Uuid): Uuid {
  return uuidV5(eventId, "svc:validated-extraction:v1");
}

/** Provider, model and prompt of an extraction, without credentials. */
export type ExtractedBy = {
  readonly provider: string;
  readonly model: string;
  readonly promptVersion: string;
  readonly at: Instant;
};

/** What was extracted from an event, as the audit log keeps it. */
export function toExtractionRecord(
  event: MemoryEvent,
  { result, drops }: { readonly result: ExtractionResult; readonly drops: DropCounts },
  by: ExtractedBy,
  batchId?: Uuid,
) {
  const { provider, model, promptVersion, at } = by;
  return {
    ...operationOn(event, at, "extraction"),
    id: extractionRecordId(event.id),
    opType: EXTRACTION_OPERATION,
    payload: checksummed({
      schema_version: 1,
      grounding_policy: GROUNDING_POLICY,
      event_id: event.id,
      user_id: event.userId,
      scope: event.scope,
      content_hash: event.contentHash,
      provider,
      model: `${provider}/${model}`,
      prompt_version: promptVersion,
      result: resultForm.json(result),
      dropped: { ...drops },
      created_at: at,
      ...(batchId !== undefined && { batch_id: batchId }),
    }),
  };
}

type AnsweredRequest = {
  /** The event whose work the request was sent for; not always one of the turns. */
  readonly head: MemoryEvent;
  readonly events: readonly MemoryEvent[];
  /** SHA-256 of what was sent. */
  readonly requestSha256: string;
  /** The answer before any check: `{turns: [...]}`. */
  readonly response: JsonObject;
  /** Ascending indices, from 1, of turns that the answer left out. */
  readonly turnsAskedAgain: readonly number[];
  /** Memories shown for correction, by label. */
  readonly shown: readonly ShownMemory[];
};

export type ShownMemory = {
  /** `m1`, `m2`, ... */
  readonly label: string;
  readonly nodeId: Uuid;
  /** Indices of the turns that it was shown for, from 1, ascending. */
  readonly turns: readonly number[];
};

/** The same request about the same turns has the same id. */
export function batchIdOf({ head, events, requestSha256 }: AnsweredRequest): Uuid {
  const name = JSON.stringify(["svc:batch:v1", events.map(({ id }) => id), requestSha256]);
  return uuidV5(head.id, name);
}

/** The request and its answer, as the audit log keeps them. */
export function toBatchRecord(request: AnsweredRequest, by: ExtractedBy) {
  const { head, events, requestSha256, response, turnsAskedAgain, shown } = request;
  const { provider, model, promptVersion, at } = by;
  return {
    ...operationOn(head, at, "extraction"),
    id: batchIdOf(request),
    opType: BATCH_OPERATION,
    payload: {
      batch: {
        schema_version: 1,
        user_id: head.userId,
        scope: head.scope,
        session_id: head.sessionId ?? null,
        head_event_id: head.id,
        provider,
        model: `${provider}/${model}`,
        prompt_version: promptVersion,
        request_sha256: requestSha256,
        turns: events.map((event, index) => ({
          index: index + 1,
          event_id: event.id,
          role: event.role,
          speaker: storedSpeaker(event.metadata) ?? null,
          event_time: event.eventTime ?? event.timestamp,
          content_hash: event.contentHash,
        })),
        response,
        ...(turnsAskedAgain.length > 0 && { turns_asked_again: [...turnsAskedAgain] }),
        ...(shown.length > 0 && {
          memories_shown: shown.map(({ label, nodeId, turns }) => ({
            label,
            node_id: nodeId,
            turns: [...turns],
          })),
        }),
        created_at: at,
      },
    },
  };
}

/** The members of an operation about an event that record the actor and the time. */
export function operationOn(event: MemoryEvent, at: Instant, actorId: string) {
  return { targetId: event.id, actorId, namespaceId: event.scope, createdAt: at };
}

/** A turn waiting for extraction, with what determines its place in a request. */
export type Waiting = {
  readonly tokens: number;
  readonly sessionId: string | undefined;
  readonly isRecorded: boolean;
};

/** Waiting turns considered for one request. */
const LOOKED_AT_MAX = 1000;

/**
 * The turns that go into one request: the head, and later ones of its session while their texts stay within the target. The first that
 * does not fit ends it. Turns of other sessions in between do not.
 * @param later turns of the same owner and scope after the head, in the order of the queue
 * @param target tokens; 0 sends every turn alone
 */
export function batchOf<T extends Waiting>(
  head: T,
  later: readonly T[],
  target: number,
): readonly [T, ...T[]] {
  const batch: [T, ...T[]] = [head];
  if (head.sessionId === undefined || head.tokens > target) return batch;
  let sum = head.tokens;
  const session = later.filter(({ sessionId }) => sessionId === head.sessionId);
  for (const turn of session.slice(0, LOOKED_AT_MAX)) {
    if (turn.isRecorded) continue;
    sum += turn.tokens;
    if (sum > target) break;
    batch.push(turn);
  }
  return batch;
}

/** The two halves in which turns are asked again. The first is the smaller one. */
export function halvesOf<T>(turns: readonly T[]): readonly [readonly T[], readonly T[]] {
  const middle = Math.floor(turns.length / 2);
  return [turns.slice(0, middle), turns.slice(middle)];
}

/** Why a request led to no extraction: stable names that jobs, statuses and errors show. Never a provider's own words. */
const FAILURE_CODES = [
  "TimeoutError",
  "ValidationError",
  "AuthenticationError",
  "PermissionDeniedError",
  "NotFoundError",
  "BadRequestError",
  "UnprocessableEntityError",
  "RateLimitError",
  "InternalServerError",
  "APIConnectionError",
  "StaleDerivationPlanError",
  "Cancelled",
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

const MAX_CAUSES = 32;
const MAX_CODE_CHARS = 100;

const BY_STATUS: ReadonlyMap<number, FailureCode> = new Map([
  [400, "BadRequestError"],
  [401, "AuthenticationError"],
  [403, "PermissionDeniedError"],
  [404, "NotFoundError"],
  [408, "TimeoutError"],
  // Rejected as too large: a smaller request may pass.
  [413, "BadRequestError"],
  [422, "UnprocessableEntityError"],
  [429, "RateLimitError"],
]);

/** The code of a provider's HTTP status. Undefined if it is not such a failure. */
export function failureOfStatus(status: number): FailureCode | undefined {
  return BY_STATUS.get(status) ?? (status >= 500 ? "InternalServerError" : undefined);
}

/** Whether to retry a request of several turns as two halves. */
export function isWorthSplitting(code: string): boolean {
  return code === "ValidationError" || isRefusal(code);
}

/** Whether a single turn with this failure ends the whole split: an unavailable provider will not answer the other half either. */
export function endsSplit(code: string): boolean {
  return isRefusal(code);
}

function isRefusal(code: string): boolean {
  return code === "TimeoutError" || code === "BadRequestError";
}

/** The members of an error that this module reads. */
type Cause = {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly status?: unknown;
  readonly data?: unknown;
  readonly reason_code?: unknown;
  readonly cause?: unknown;
};

/**
 * The reason code of an error: that of the first known cause in its chain, otherwise the name of the last error. ASCII letters, digits and
 * `_`, 1 to 100 characters.
 */
export function failureCode(error: unknown): string {
  let name = "Error";
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && isObject(current); depth += 1) {
    const known = knownCode(current);
    if (known !== undefined) return known;
    if (typeof current.name === "string") name = current.name;
    current = current.cause;
  }
  return name.replace(/[^A-Za-z0-9_]/g, "").slice(0, MAX_CODE_CHARS) || "Error";
}

function knownCode(error: Cause): FailureCode | undefined {
  const { data, name } = error;
  const status = error.status ?? (isObject(data) ? data.status : undefined);
  const ofStatus = typeof status === "number" ? failureOfStatus(status) : undefined;
  if (ofStatus !== undefined) return ofStatus;
  const stated = isObject(data) ? data.reason_code : undefined;
  return FAILURE_CODES.find((code) => code === name || code === stated);
}

function isObject(value: unknown): value is Cause {
  return typeof value === "object" && value !== null;
}
