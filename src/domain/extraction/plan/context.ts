import { uuidV5 } from "../../../lib/hashing.ts";
import { addDays, fromDate, type Instant, toEpochMillis } from "../../../lib/instant.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { EdgeType } from "../../enums.ts";
import type { ConfidenceOverrides } from "../../epistemics.ts";
import { isActive } from "../../lifecycle.ts";
import { type Edge, type MemoryEvent, type MemoryNode, newMemory } from "../../node.ts";
import type { Turn } from "../passages.ts";

/** User settings for claims and entities. */
export type PlanSettings = {
  readonly confidenceOverrides: ConfidenceOverrides;
  /** Whether the first person of a turn refers to its speaker. */
  readonly speakerReferences: boolean;
  /** Whether a claim's text is its sentences instead of the whole paragraph. */
  readonly claimSentenceText: boolean;
  readonly claimMerge: boolean;
};

export type KnownClaim = {
  readonly node: MemoryNode;
  readonly subjectIds: readonly Uuid[];
  readonly objectIds: readonly Uuid[];
};

/** What the store knows of one owner and scope that a plan may need: see `lookupOf`. */
export type KnownMemories = {
  /** Active entities by ascending id. */
  readonly entities: readonly MemoryNode[];
  /** Claims about them, and about the owner and the speaker, in any order. */
  readonly claims: readonly KnownClaim[];
  /** The entity that represents the owner, in any state. */
  readonly owner: MemoryNode | undefined;
  /** All names that the owner has had. */
  readonly ownerNames: ReadonlySet<string>;
  /** Memories shown to the model for correction. */
  readonly shown: ReadonlyMap<Uuid, MemoryNode>;
};

export type PlanContext = {
  readonly event: MemoryEvent;
  readonly turn: Turn;
  readonly known: KnownMemories;
  readonly settings: PlanSettings;
  readonly readDates: ReadDates;
  /** Counts the plans of the event, from 1. */
  readonly revision: number;
  readonly now: Instant;
};

export type PlanProblem = "owner_reference_changed";

export const NOTHING_KNOWN: KnownMemories = {
  entities: [],
  claims: [],
  owner: undefined,
  ownerNames: new Set(),
  shown: new Map(),
};

/** Whether a memory is an entity that a plan may reuse: active, and not just a reference to a person. */
export function isKnownEntity({ nodeType, lifecycleState, metadata }: MemoryNode): boolean {
  const isReference = (metadata?.["identity_status"] ?? null) !== null;
  return nodeType === "entity" && isActive(lifecycleState) && !isReference;
}

/** The plan of an event, one for each revision. */
export function planIdOf(given: {
  readonly event: Pick<MemoryEvent, "id">;
  readonly revision: number;
}): Uuid {
  const { event, revision } = given;
  return uuidV5(event.id, `svc:derivation:v1:${revision}`);
}

/** The node that represents an owner in a scope, by the name under which it was made. */
export function ownerReferenceId(userId: string, scope: string): Uuid {
  return uuidV5("url", JSON.stringify(["svc:owner-reference:v1", userId, scope]));
}

export function nameKey(text: string): string {
  return text.trim().toLowerCase();
}

export function newNode(
  { event, turn, now }: PlanContext,
  part: Pick<MemoryNode, "id" | "nodeType" | "content"> & Partial<MemoryNode>,
): MemoryNode {
  return newMemory({
    userId: event.userId,
    sessionId: event.sessionId,
    confidence: EXTRACTED_CONFIDENCE,
    confidenceBase: EXTRACTED_CONFIDENCE,
    salienceBase: 0.5,
    lastReinforcedAt: event.timestamp,
    decayProfile: "slow",
    epistemicType: "asserted",
    sourceType: "user_stated",
    scope: event.scope,
    createdAt: now,
    validFrom: turn.at,
    evidenceRefs: [event.id],
    ...part,
  });
}

const EXTRACTED_CONFIDENCE = 0.5;

/** An edge of a plan. Two nodes have at most one of each type. */
export function newEdge(
  { event, now }: { readonly event: Pick<MemoryEvent, "id" | "userId">; readonly now: Instant },
  planId: Uuid,
  edgeType: EdgeType,
  [sourceId, targetId]: readonly [Uuid, Uuid],
): Edge {
  return {
    id: uuidV5(planId, `edge:${edgeType}:${sourceId}:${targetId}`),
    userId: event.userId,
    sourceId,
    targetId,
    edgeType,
    confidence: EXTRACTED_CONFIDENCE,
    validFrom: now,
    validTo: undefined,
    provenanceEventId: event.id,
    metadata: undefined,
    createdAt: now,
  };
}

/** The start of a memory: when it happened, else when it became valid. */
export function effectiveTime(node: MemoryNode) {
  return node.eventTime ?? node.validFrom;
}

/** Reads dates in words and returns the matches in text order. */
type ReadDates = (
  text: string,
  reference: Instant,
) => readonly { readonly value: string; readonly resolved: Instant }[];

/** Words that identify no single moment. */
const VAGUE =
  /(?<![\p{L}])(?:few|couple|several|some|many|while|weekends?|since|for|over|within|past|during|until|by|before|after|every|each|early|mid|late|beginning|end|start|middle|around|about|recently|soon|spring|summer|autumn|fall|winter|q[1-4])(?![\p{L}])|\d{4}s\b|(?:last|next|this)\s+(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/iu;
/** The same words do identify one in these expressions. */
const EXACT = /(?<![\p{L}])day (?:before yesterday|after tomorrow)(?![\p{L}])/giu;
const LEAD = /^(?:on|in|at)\s+(?=\S)|^the\s+(?=day\s)/i;
const WEEKDAY = /^(?:last\s+)?(?:mon|tues|wednes|thurs|fri|satur|sun)day$/i;
const CLOCK = /^\d{1,2}(?::\d{2})?\s*(?:[ap]\.?m\.?)?$/i;
const HAS_MONTH = /(?<![\p{L}])(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/iu;
const HAS_YEAR = /\d{4}|year/i;

/**
 * The moment of an expression such as `two days ago`, relative to when the turn was said, preferring the past.
 * @returns undefined if it identifies no single moment
 */
export function resolveDate(
  expression: string,
  reference: Instant,
  readDates: ReadDates,
): Instant | undefined {
  const text = expression.trim();
  if (/^now$/i.test(text)) return reference;
  if (VAGUE.test(text.replace(EXACT, " ")) || /^\d{1,2}$|^\d{8}$/.test(text)) return undefined;
  const [found, second] = readDates(text, reference);
  const bare = text.replace(LEAD, "");
  // The expression must be read completely; an unread rest could change its meaning.
  if (found === undefined || second !== undefined || found.value.length < bare.length) {
    return undefined;
  }
  return inThePast(bare, found.resolved, reference);
}

/** The last such moment, for expressions that are ambiguous. */
function inThePast(text: string, resolved: Instant, reference: Instant): Instant {
  if (WEEKDAY.test(text)) {
    const isToday = resolved.slice(0, 10) === reference.slice(0, 10);
    return isToday ? (addDays(resolved, -7) ?? resolved) : resolved;
  }
  if (resolved <= reference) return resolved;
  if (CLOCK.test(text)) return addDays(resolved, -1) ?? resolved;
  return HAS_MONTH.test(text) && !HAS_YEAR.test(text) ? yearBefore(resolved) : resolved;
}

function yearBefore(instant: Instant): Instant {
  const date = new Date(toEpochMillis(instant));
  date.setUTCFullYear(date.getUTCFullYear() - 1);
  return fromDate(date);
}
