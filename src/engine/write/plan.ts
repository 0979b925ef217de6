import {
  parseContent,
  parseOptionalContent,
  parseOptionalInteger,
  parseOptionalMember,
  parseOptionalNumber,
  parseSessionId,
  parseUserId,
} from "../../domain/arguments.ts";
import {
  EPISTEMIC_TYPES,
  NODE_TYPES,
  type NodeType,
  parseMember,
  parseRole,
  type Role,
  SCOPES,
  type Scope,
  SOURCE_TYPES,
} from "../../domain/enums.ts";
import {
  inferEpistemicType,
  inferSourceType,
  initialConfidence,
  initialDecayProfile,
} from "../../domain/epistemics.ts";
import { invalid } from "../../domain/errors.ts";
import { initialTtlDays } from "../../domain/fading.ts";
import { parseInstantInput, requireInterval } from "../../domain/lifecycle.ts";
import {
  parseMetadata,
  parseValueBindings,
  VALUE_BINDINGS_KEY,
  withRole,
} from "../../domain/metadata.ts";
import { type MemoryEvent, type MemoryNode, newMemory } from "../../domain/node.ts";
import { parseSpeaker, SPEAKER_KEY } from "../../domain/speaker.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import { type Instant, nextInstant } from "../../lib/instant.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { EventLog } from "../../ports/store/events.ts";
import type { EngineDeps } from "../deps.ts";
import type { EngineSettings } from "../settings.ts";
import type { FastIngestItem, StoreInput } from "./api.ts";

export type StorePlan = { readonly event: MemoryEvent; readonly node: MemoryNode };

export type PlanContext = {
  readonly now: Instant;
  readonly eventId: Uuid;
  readonly nodeId: Uuid;
  readonly settings: Pick<EngineSettings, "confidenceOverrides" | "ttlDefaults">;
  /** Further reserved metadata. */
  readonly extra?: Readonly<Record<string, Json>> | undefined;
};

/** The event and node of a store. Pure. @throws SvcError invalid_argument; invalid_speaker */
export function planStore(input: StoreInput, context: PlanContext): StorePlan {
  const validFrom = parseInstantInput(input.validFrom, "valid_from");
  const validTo = parseInstantInput(input.validTo, "valid_to");
  requireInterval(validFrom, validTo);
  const draft = draftEvent(
    { ...input, scope: input.scope ?? undefined },
    input.userId,
    context.extra,
  );
  const content =
    parseOptionalContent(input.retrievalContent, "retrieval_content") ?? draft.content;
  const bindings = parseValueBindings(input.valueBindings, {
    source: draft.content,
    indexed: content,
  });
  const metadata: JsonObject | undefined =
    bindings.length === 0 ? draft.metadata : { ...draft.metadata, [VALUE_BINDINGS_KEY]: bindings };
  const event = toEvent({ ...draft, metadata }, context.eventId, context.now);
  const nodeType = parseMember(NODE_TYPES, input.nodeType ?? "note", "node_type");
  const knowledge = planKnowledge(input, event, nodeType, context);
  const conditioned = withCondition(metadata, input);
  const node: MemoryNode = {
    ...baseNode(event, context.nodeId),
    ...knowledge,
    nodeType,
    content,
    metadata:
      nodeType === "instruction" ? withRole(conditioned, { ...knowledge, ...draft }) : conditioned,
    validFrom: validFrom ?? context.now,
    validTo,
    ttlDays: planTtl(input, nodeType, context),
  };
  return { event, node };
}

/** The raw note of an event that was admitted without a plan; its id is the event's. */
export function planRawNote(event: MemoryEvent, settings: PlanContext["settings"]): MemoryNode {
  const epistemicType = inferEpistemicType(event.role, "note");
  const sourceType = inferSourceType(event.role);
  const confidence = initialConfidence(
    { nodeType: "note", epistemicType, sourceType, given: undefined },
    settings.confidenceOverrides,
  );
  return {
    ...baseNode(event, event.id),
    epistemicType,
    sourceType,
    confidence,
    confidenceBase: confidence,
    decayProfile: "medium",
    ttlDays: initialTtlDays("note", undefined, settings.ttlDefaults),
  };
}

function baseNode(event: MemoryEvent, id: Uuid): MemoryNode {
  return newMemory({
    id,
    userId: event.userId,
    sessionId: event.sessionId,
    nodeType: "note",
    content: event.content,
    decayProfile: "medium",
    epistemicType: "asserted",
    sourceType: "user_stated",
    scope: event.scope,
    metadata: event.metadata,
    createdAt: event.timestamp,
    eventTime: event.eventTime,
    evidenceRefs: [event.id],
  });
}

function planKnowledge(
  input: StoreInput,
  event: MemoryEvent,
  nodeType: NodeType,
  context: PlanContext,
): Pick<
  MemoryNode,
  "epistemicType" | "sourceType" | "confidence" | "confidenceBase" | "decayProfile"
> {
  const epistemicType =
    parseOptionalMember(EPISTEMIC_TYPES, input.epistemicType, "epistemic_type") ??
    inferEpistemicType(event.role, nodeType);
  if (epistemicType === "deprecated") {
    throw invalid(
      "epistemic_type",
      "deprecated is set by lifecycle transitions, never at creation",
    );
  }
  const sourceType =
    parseOptionalMember(SOURCE_TYPES, input.sourceType, "source_type") ??
    inferSourceType(event.role);
  const given = parseOptionalNumber(input.confidence, "confidence", 0, 1);
  const confidence = initialConfidence(
    { nodeType, epistemicType, sourceType, given },
    context.settings.confidenceOverrides,
  );
  return {
    epistemicType,
    sourceType,
    confidence,
    confidenceBase: confidence,
    decayProfile: initialDecayProfile(nodeType, epistemicType),
  };
}

/** A conditional memory needs a condition, whose state is unknown at first. */
function withCondition(
  metadata: JsonObject | undefined,
  input: StoreInput,
): JsonObject | undefined {
  if (input.epistemicType !== "conditional") return metadata;
  const condition = metadata?.["condition"];
  if (typeof condition !== "string" || condition.trim() === "") {
    throw invalid("metadata.condition", "a conditional memory needs its condition as text");
  }
  const state = metadata?.["condition_state"] ?? "unknown";
  if (state !== "unknown") {
    throw invalid(
      "metadata.condition_state",
      "a new conditional memory begins as unknown; record an evaluation afterwards",
    );
  }
  return { ...metadata, condition: condition.trim(), condition_state: "unknown" };
}

function planTtl(input: StoreInput, nodeType: NodeType, context: PlanContext): number | undefined {
  const given =
    input.ttlDays === null ? null : parseOptionalInteger(input.ttlDays, "ttl_days", 0, 1_000_000);
  return initialTtlDays(nodeType, given, context.settings.ttlDefaults);
}

/** A checked event without identity and time of admission. */
export type EventDraft = {
  readonly userId: string;
  readonly content: string;
  readonly role: Role;
  readonly scope: Scope;
  readonly sessionId: string | undefined;
  readonly metadata: JsonObject | undefined;
  readonly eventTime: Instant | undefined;
};

/** @param extra reserved metadata set by the engine @throws SvcError invalid_argument; invalid_speaker */
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

/** By store and owner: the last moment issued ahead of the clock. */
const ahead = new WeakMap<object, Map<string, Instant>>();

/** Timestamps for an owner's next events, later than all existing ones, even if the clock was set back. */
export async function stampsFor(
  { store, clock }: Pick<EngineDeps<EventLog>, "store" | "clock">,
  userId: string,
): Promise<(now?: Instant) => Instant> {
  const kept = await store.lastEventAt(userId);
  return (now = clock.now()) => {
    const given = ahead.get(store) ?? new Map<string, Instant>();
    const last = [kept ?? "", given.get(userId) ?? ""].sort().at(-1);
    if (last === undefined || now > last) return now;
    // SAFETY: it is not before `now`, so it is a moment.
    const next = nextInstant(last as Instant);
    ahead.set(store, given.set(userId, next));
    return next;
  };
}
