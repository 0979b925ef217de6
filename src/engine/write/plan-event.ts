import { parseContent, parseSessionId, parseUserId } from "../../domain/arguments.ts";
import { parseMember, parseRole, type Role, SCOPES, type Scope } from "../../domain/enums.ts";
import type { MemoryEvent } from "../../domain/event.ts";
import { parseMetadata } from "../../domain/metadata.ts";
import { parseSpeaker, SPEAKER_KEY } from "../../domain/speaker.ts";
import { parseInstantInput } from "../../domain/validity.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { FastIngestItem } from "./api.ts";

/** The checked part of an event: everything but its identity and the time of admission. */
export type EventDraft = {
  readonly userId: string;
  readonly content: string;
  readonly role: Role;
  readonly scope: Scope;
  readonly sessionId: string | undefined;
  readonly metadata: JsonObject | undefined;
  readonly eventTime: Instant | undefined;
};

/**
 * Checks and copies what a caller says about one event.
 * @param extra additional reserved metadata from the engine itself
 * @throws SvcError invalid_argument, invalid_speaker
 */
export function draftEvent(
  input: FastIngestItem & { readonly scope?: Scope | null | undefined },
  userId: unknown,
  extra: Readonly<Record<string, Json>> = {},
): EventDraft {
  const speaker = parseSpeaker(input.speaker);
  const metadata = parseMetadata(input.metadata);
  const added = { ...extra, ...(speaker === undefined ? {} : { [SPEAKER_KEY]: speaker }) };
  return {
    userId: parseUserId(userId),
    content: parseContent(input.content, "content"),
    role: input.role === undefined ? "user" : parseRole(input.role),
    scope: parseMember(SCOPES, input.scope ?? "personal", "scope"),
    sessionId: parseSessionId(input.sessionId),
    metadata:
      metadata === undefined && Object.keys(added).length === 0
        ? undefined
        : { ...metadata, ...added },
    eventTime: parseInstantInput(input.eventTime, "event_time"),
  };
}

export function toEvent(draft: EventDraft, id: Uuid, timestamp: Instant): MemoryEvent {
  return { ...draft, id, contentHash: sha256Hex(draft.content), timestamp };
}
