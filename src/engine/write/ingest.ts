import { parseOptionalBoolean } from "../../domain/arguments.ts";
import { parseRole } from "../../domain/enums.ts";
import { FIRST_PERSON_OWNER_KEY, speakerError } from "../../domain/speaker.ts";
import type { Json } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { IngestInput } from "./api.ts";
import { type StoreDeps, store } from "./store.ts";

/**
 * Stores a message and returns its event's id. Nothing is extracted from it: it is stored as a note, as by `store`, with the id
 * of the event.
 * @throws SvcError as `store`
 */
export async function ingest(deps: StoreDeps, input: IngestInput): Promise<Uuid> {
  // The memory is complete when the call returns, so there is nothing to wait for either way.
  parseOptionalBoolean(input.waitForExtraction, "wait_for_extraction");
  const attribution = attributionOf(input);
  const { eventId } = await store(
    deps,
    {
      content: input.content,
      userId: input.userId,
      role: input.role === undefined ? undefined : parseRole(input.role),
      speaker: input.speaker,
      sessionId: input.sessionId,
      metadata: input.metadata,
      eventTime: input.eventTime,
      scope: input.scope,
    },
    { extra: attribution, isRawNote: true },
  );
  return eventId;
}

/** The first person of a message, as reserved metadata. @throws SvcError invalid_argument, invalid_speaker */
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
