import { parseOptionalBoolean } from "../../domain/arguments.ts";
import { parseBlobs } from "../../domain/blob.ts";
import { parseRole } from "../../domain/enums.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import type { MemoryEvent } from "../../domain/event.ts";
import { FIRST_PERSON_OWNER_KEY, speakerError } from "../../domain/speaker.ts";
import type { Json } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { EventBlob } from "../../ports/store/blobs.ts";
import type { ExtractionStart, IngestBatchInput, IngestInput, IngestMessage } from "./api.ts";
import { draftEvent, type EventDraft, toEvent } from "./plan-event.ts";
import { stampsFor } from "./stamp.ts";
import { type StoreDeps, type StoreOptions, store } from "./store.ts";

export type IngestDeps = StoreDeps & {
  /** Undefined: nothing is extracted. */
  readonly extractions: ExtractionStart | undefined;
};

/** What is kept with the event of a message. */
export type KeptWith = Pick<StoreOptions, "eventId" | "blobs">;

/**
 * Takes in a message with what its event names, and returns its event's id. To be extracted, it is only kept, as quickly as by a fast ingest. Otherwise it is
 * stored as a note, as by `store`, with the id of the event.
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

/**
 * Takes in the messages of a session, in their order. All are checked before the first is kept.
 * @throws SvcError as `ingest`; the message of an invalid_argument or invalid_speaker begins with `messages[i]`
 */
export async function ingestBatch(
  deps: IngestDeps,
  input: IngestBatchInput,
): Promise<readonly Uuid[]> {
  const isAwaited = parseOptionalBoolean(input.waitForExtraction, "wait_for_extraction") ?? false;
  if (!Array.isArray(input.messages)) throw invalid("messages", "must be a list");
  const inputs = input.messages.map((message, index) => inputOf(message, input, index));
  const drafts = inputs.map((one, index) => at(index, () => draftMessage(one)));
  const { extractions } = deps;
  if (extractions === undefined) {
    const ids: Uuid[] = [];
    for (const one of inputs) ids.push(await storeMessage(deps, one));
    return ids;
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

/** The members that a message and a stored memory have in common. */
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

const MESSAGE_KEYS: ReadonlySet<string> = new Set([
  "content",
  "role",
  "speaker",
  "firstPersonOwner",
  "metadata",
  "eventTime",
] satisfies (keyof IngestMessage)[]);

function inputOf(message: unknown, batch: IngestBatchInput, index: number): IngestInput {
  const path = `messages[${index}]`;
  if (typeof message !== "object" || message === null || Array.isArray(message)) {
    throw invalid(path, "must be an object");
  }
  for (const key of Object.keys(message)) {
    if (!MESSAGE_KEYS.has(key)) throw invalid(`${path}.${key}`, "is not a field of a message");
  }
  // SAFETY: draftMessage checks every member it reads.
  const given = message as IngestMessage;
  if (given.role === undefined) throw invalid(`${path}.role`, "is missing; say who said it");
  const { userId, sessionId, scope } = batch;
  return { ...given, userId, sessionId, scope };
}

/** Names the message about which an error is. */
function at<T>(index: number, check: () => T): T {
  try {
    return check();
  } catch (error) {
    const field = error instanceof SvcError ? error.data["field"] : undefined;
    if (!(error instanceof SvcError) || OF_ALL.has(field)) throw error;
    const path = `messages[${index}].`;
    const named = { ...error.data, field: `${path}${String(field ?? "")}` };
    throw new SvcError(error.code, `${path}${error.message}`, named);
  }
}

/** What all messages of a batch share. */
const OF_ALL: ReadonlySet<unknown> = new Set(["user_id", "session_id", "scope"]);

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
