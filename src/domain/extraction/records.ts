import type { Instant } from "../../lib/instant.ts";
import type { JsonObject } from "../../lib/json.ts";
import { uuidV5 } from "../../lib/new-uuid.ts";
import type { Uuid } from "../../lib/uuid.ts";
import { checksummed } from "../checksummed.ts";
import type { MemoryEvent } from "../event.ts";
import { storedSpeaker } from "../speaker.ts";
import type { DropCounts } from "./reasons.ts";
import { type ExtractionResult, resultForm } from "./result.ts";

/** The rules of the checks (`check-turn.ts`), which every record names. Another value for other rules. */
export const GROUNDING_POLICY = "speech_act_v14";
/** The kind of operation that keeps what was extracted from an event. */
export const EXTRACTION_OPERATION = "EXTRACTION_VALIDATED";
/** The kind of operation that keeps a request about several turns and its answer. */
export const BATCH_OPERATION = "EXTRACTION_BATCH_RECORDED";

/** The id of the record of an event. The first extraction of an event is the only one. */
export function extractionRecordId(eventId: Uuid): Uuid {
  return uuidV5(eventId, "svc:validated-extraction:v1");
}

/** Who extracted, with what it was told. No credential. */
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
    ...operationOn(event, at),
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

/** A request about several turns and its answer. */
export type AnsweredRequest = {
  /** The event whose work it was sent for; not always one of the turns. */
  readonly head: MemoryEvent;
  /** In the order of the request. */
  readonly events: readonly MemoryEvent[];
  /** SHA-256 of what was sent. */
  readonly requestSha256: string;
  /** The answer before any check: `{turns: [...]}`. */
  readonly response: JsonObject;
  /** Ascending places of turns that the answer left out, from 1. */
  readonly turnsAskedAgain: readonly number[];
  /** Memories that were shown to be corrected, by their labels. */
  readonly shown: readonly ShownMemory[];
};

/** A memory that a request showed. */
export type ShownMemory = {
  /** `m1`, `m2`, ... */
  readonly label: string;
  readonly nodeId: Uuid;
  /** Places of the turns that it was shown for, from 1, ascending. */
  readonly turns: readonly number[];
};

/** The same request about the same turns has one id. */
export function batchIdOf({ head, events, requestSha256 }: AnsweredRequest): Uuid {
  const name = JSON.stringify(["svc:batch:v1", events.map(({ id }) => id), requestSha256]);
  return uuidV5(head.id, name);
}

/** The request and its answer, as the audit log keeps them. */
export function toBatchRecord(request: AnsweredRequest, by: ExtractedBy) {
  const { head, events, requestSha256, response, turnsAskedAgain, shown } = request;
  const { provider, model, promptVersion, at } = by;
  return {
    ...operationOn(head, at),
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

function operationOn(event: MemoryEvent, at: Instant) {
  return {
    targetId: event.id,
    actorId: "extraction",
    namespaceId: event.scope,
    createdAt: at,
  };
}
