import * as f from "../lib/form.ts";
import type { Instant } from "../lib/instant.ts";
import { LIMITS } from "./arguments.ts";
import {
  DECAY_PROFILES,
  EDGE_TYPES,
  EPISTEMIC_TYPES,
  LIFECYCLE_STATES,
  NODE_TYPES,
  ROLES,
  SCOPES,
  SOURCE_TYPES,
} from "./enums.ts";
import { invalid } from "./errors.ts";
import { auditForm } from "./records/audit.ts";

/** The keys of a node in rows, exports and answers, in their order. */
export const nodeForm = f.named("Node", "A memory with its state, provenance and validity.", {
  id: f.uuid,
  userId: f.text,
  sessionId: f.nullable(f.text),
  nodeType: f.member(NODE_TYPES),
  content: f.text,
  lifecycleState: f.member(LIFECYCLE_STATES),
  /** 0 to 1, as stored at creation or last reinforcement; decay is applied while scoring, never here. */
  confidence: f.unit,
  salience: f.unit,
  confidenceBase: f.unit,
  salienceBase: f.unit,
  reinforcementBoost: f.nonNegative,
  lastReinforcedAt: f.instant,
  decayProfile: f.member(DECAY_PROFILES),
  epistemicType: f.member(EPISTEMIC_TYPES),
  sourceType: f.member(SOURCE_TYPES),
  scope: f.member(SCOPES),
  metadata: f.nullable(f.anyObject),
  createdAt: f.instant,
  updatedAt: f.instant,
  eventTime: f.nullable(f.instant),
  validFrom: f.instant,
  /** Exclusive; undefined while still valid. */
  validTo: f.nullable(f.instant),
  /** Days after creation at which retention ends; undefined: unlimited. */
  ttlDays: f.nullable(f.integer),
  supersededBy: f.nullable(f.uuid),
  /** Events that support it, in citation order. */
  evidenceRefs: f.list(f.uuid),
  pinned: f.flag,
});

/** A memory: typed, owned, with state, provenance and a validity interval `[validFrom, validTo)`. */
export type MemoryNode = f.ValueOf<typeof nodeForm>;

type Needed = "id" | "userId" | "nodeType" | "content" | "scope" | "createdAt" | "evidenceRefs";
type Kind = "decayProfile" | "epistemicType" | "sourceType";

/** A new memory with its defaults: tentative, valid from creation, with unlimited retention. */
export function newMemory(
  given: Pick<MemoryNode, Needed | Kind> & Partial<MemoryNode>,
): MemoryNode {
  const { createdAt, confidence = 0.5, salience = 0.5 } = given;
  return {
    sessionId: undefined,
    lifecycleState: "tentative",
    confidence,
    salience,
    confidenceBase: confidence,
    salienceBase: salience,
    reinforcementBoost: 0,
    lastReinforcedAt: createdAt,
    metadata: undefined,
    updatedAt: createdAt,
    eventTime: undefined,
    validFrom: createdAt,
    validTo: undefined,
    ttlDays: undefined,
    supersededBy: undefined,
    pinned: false,
    ...given,
  };
}

/** A complete node as JSON for audit records, and back. */
export const nodeRecord = auditForm(
  nodeForm,
  `id userId sessionId nodeType content lifecycleState confidence salience confidenceBase salienceBase reinforcementBoost
   lastReinforcedAt decayProfile epistemicType sourceType scope metadata createdAt updatedAt eventTime validFrom validTo ttlDays
   supersededBy evidenceRefs pinned`,
);

/** Whether a memory counts as pinned: explicitly, or because it had full salience from the start. Reinforcement does not pin. */
export function isPinned(node: Pick<MemoryNode, "pinned" | "salience" | "salienceBase">): boolean {
  return node.pinned || (node.salience >= 1 && node.salienceBase >= 1);
}

/** The time that a memory is about: when it happened, else when it was stored. */
export function statedTime(node: MemoryNode): Instant {
  return node.eventTime ?? node.createdAt;
}

/** The part of a memory read for its wording; bounded, because it blocks other work. */
export function wordingOf({ content }: Pick<MemoryNode, "content">): string {
  return content.slice(0, LIMITS.wordingChars);
}

/** An edge as shown in answers and exports for other programs. */
export const edgeForm = f.named("Edge", "A directed relation between two memories.", {
  id: f.uuid,
  /** `supersedes`: the replacement. `contradicts`: the claim named second. */
  sourceId: f.uuid,
  targetId: f.uuid,
  edgeType: f.member(EDGE_TYPES),
  userId: f.text,
  confidence: f.unit,
  validFrom: f.instant,
  /** Exclusive; undefined while still valid. */
  validTo: f.nullable(f.instant),
  /** The event that supports it. */
  provenanceEventId: f.nullable(f.uuid),
  metadata: f.nullable(f.anyObject),
  createdAt: f.instant,
});

/** A directed relation between two memories of one owner. */
export type Edge = f.ValueOf<typeof edgeForm>;

/** A complete edge as JSON for audit records, and back. */
export const edgeRecord = auditForm(
  edgeForm,
  "id sourceId targetId edgeType userId confidence validFrom validTo provenanceEventId metadata createdAt",
);

/** An event as in rows and exports. */
export const eventForm = f.object({
  id: f.uuid,
  userId: f.text,
  sessionId: f.nullable(f.text),
  scope: f.member(SCOPES),
  role: f.member(ROLES),
  content: f.text,
  /** SHA-256 of the UTF-8 content, 64 lower-case hex digits. */
  contentHash: f.sha256,
  metadata: f.nullable(f.anyObject),
  /** When it was said or happened, according to the caller. */
  eventTime: f.nullable(f.instant),
  /** When it was admitted; `createdAt` and `updatedAt` on the wire. */
  timestamp: f.instant,
});

/** What was said, verbatim. Written once, never changed: the source of truth of a pack. */
export type MemoryEvent = f.ValueOf<typeof eventForm>;

/** Bytes that an event names, such as the thumbnail of a photo. The key names the content. */
export type KeptBlob = {
  readonly key: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
};

/** The maximum value of the setting `blob_max_bytes`. */
export const BLOB_LIMIT_BYTES = 16_777_216;
/** Printable ASCII without blanks; part of a URL path. */
export const BLOB_KEY = /^[!-~]{1,256}$/;
export const MEDIA_TYPE = /^[a-z0-9][a-z0-9.+-]{0,63}\/[a-z0-9][a-z0-9.+-]{0,63}$/;

/** The key of a blob. @throws SvcError invalid_argument */
export function parseBlobKey(value: unknown, field = "key"): string {
  if (typeof value === "string" && BLOB_KEY.test(value)) return value;
  throw invalid(field, "must be 1 to 256 printable ASCII characters without blanks");
}

/** Blobs to keep. Absent: none. @throws SvcError invalid_argument */
export function parseBlobs(
  blobs: readonly KeptBlob[] | undefined,
  { blobMaxBytes }: { readonly blobMaxBytes: number },
): readonly KeptBlob[] {
  return (blobs ?? []).map(({ key, mediaType, bytes }, place) => {
    const field = `blobs[${place}]`;
    parseBlobKey(key, `${field}.key`);
    if (!MEDIA_TYPE.test(mediaType)) {
      throw invalid(`${field}.media_type`, "must be a media type such as image/jpeg");
    }
    if (bytes.length === 0) throw invalid(`${field}.bytes`, "is empty");
    if (bytes.length <= blobMaxBytes) return { key, mediaType, bytes };
    throw invalid(
      `${field}.bytes`,
      `has ${bytes.length} bytes, at most ${blobMaxBytes} (setting blob_max_bytes)`,
    );
  });
}
