import type { StoreBackend } from "../../domain/addresses.ts";
import type { LifecycleState, NodeType, Scope } from "../../domain/enums.ts";
import type { ExtractionJob } from "../../domain/jobs.ts";
import type { InstantInput } from "../../domain/lifecycle.ts";
import type { Edge, KeptBlob, MemoryEvent, MemoryNode } from "../../domain/node.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { EmbedderUse, EmbeddingIdentity } from "../../ports/models.ts";
import type { AuditRecord, BlobTotals } from "../../ports/store/records.ts";

export type NodeQuery = {
  readonly userId?: string | null | undefined;
  readonly nodeType?: NodeType | null | undefined;
  readonly scope?: Scope | null | undefined;
  readonly scopes?: readonly Scope[] | null | undefined;
  readonly sessionIds?: readonly string[] | null | undefined;
  /** Absent: tentative, stable, contested. Empty: nothing matches. */
  readonly lifecycleStates?: readonly LifecycleState[] | null | undefined;
  readonly validAt?: InstantInput | null | undefined;
  readonly minConfidence?: number | null | undefined;
  readonly minSalience?: number | null | undefined;
  readonly contentContainsAny?: readonly string[] | null | undefined;
  readonly createdBefore?: InstantInput | null | undefined;
  /** Only memories older than this one; ties by id. Pages through a list, newest first. */
  readonly olderThan?: { readonly createdAt: InstantInput; readonly id: string } | null | undefined;
  readonly oldestFirst?: boolean | undefined;
  /** Integer 0 to 1000. Default 100. */
  readonly limit?: number | undefined;
};

export type EventQuery = {
  readonly userId: string;
  readonly sessionId?: string | null | undefined;
  readonly scopes?: readonly Scope[] | null | undefined;
  /** Integer 0 to 1000. Default 100. */
  readonly limit?: number | undefined;
  /** Integer >= 0. Default 0. */
  readonly offset?: number | undefined;
};

export type ScanQuery = {
  readonly userId: string;
  readonly scope?: Scope | null | undefined;
  readonly nodeType?: NodeType | null | undefined;
  /** Absent: tentative, stable, contested. Empty: nothing matches. */
  readonly lifecycleStates?: readonly LifecycleState[] | null | undefined;
  /** UUID; only ids after it. */
  readonly afterId?: string | null | undefined;
  /** Integer 1 to 1000. Default 100. */
  readonly limit?: number | null | undefined;
};

export type IterateQuery = Omit<ScanQuery, "afterId" | "limit"> & {
  /** Integer 1 to 1000. Default 100. */
  readonly batchSize?: number | undefined;
};

/** One page of a walk over all of an owner's memories; complete if the store does not change. */
export type ScanPage = {
  readonly nodes: readonly MemoryNode[];
  /** Exact. */
  readonly hasMore: boolean;
  /** The last id of the page; undefined on the last page. */
  readonly nextCursor: Uuid | undefined;
};

export type BlobOptions = { readonly userId?: string | null | undefined };

export type NeighborhoodOptions = {
  readonly userId?: string | null | undefined;
  /** Integer 1 to 5. Default 2. */
  readonly maxHops?: number | null | undefined;
};

export type ChainOptions = {
  readonly userId?: string | null | undefined;
  /** `forward` (default): what replaced it; `backward`: what it replaced. */
  readonly direction?: "forward" | "backward" | null | undefined;
};

export type ProvenanceOptions = {
  readonly userId?: string | null | undefined;
  /** `nextOperationCursor` of the previous page. */
  readonly operationCursor?: string | null | undefined;
  /** Integer 1 to 1000. Default 100. */
  readonly operationLimit?: number | null | undefined;
};

/** The evidence of a memory and its history. */
export type Provenance = {
  readonly node: MemoryNode;
  /** In order of first citation; beyond `LIMITS.pageChars` of text they are left out. */
  readonly evidenceEvents: readonly MemoryEvent[];
  /** Cited events that are missing, or belong to another owner or scope. */
  readonly missingEvidenceRefs: readonly Uuid[];
  /** What was done to this memory, oldest first. */
  readonly operations: readonly AuditRecord[];
  readonly contradictionEdges: readonly Edge[];
  /** Undefined on the last page. */
  readonly nextOperationCursor: string | undefined;
};

/** What a language model extracted from an event, as recorded. */
export type ExtractionRecord = {
  readonly schemaVersion: 1;
  readonly groundingPolicy: string;
  readonly eventId: Uuid;
  readonly userId: string;
  readonly scope: Scope;
  readonly contentHash: string;
  readonly provider: string;
  readonly model: string;
  /** Of the prompt; undefined in records of earlier versions. */
  readonly promptVersion: string | undefined;
  readonly result: Json;
  /** Rejected claims, by reason. */
  readonly dropped: JsonObject | undefined;
  readonly createdAt: Instant;
  readonly batchId: string | undefined;
};

/** How far extraction from an event has come. */
export type ExtractionStatus = ExtractionJob;

export type Stats = {
  /** Active nodes, of the owner if one was named. */
  readonly nodeCount: number;
  readonly eventCount: number;
  readonly backend: StoreBackend;
  /** Undefined if unreadable. */
  readonly details: StatsDetails | undefined;
};

/** Totals of the pack, or of one owner in it. */
export type StatsDetails = {
  /** Changes after every write to the pack, by any process; compare for equality only. */
  readonly changeSequence: string;
  /** Size of its files, excluding the log; undefined for a single owner. */
  readonly bytes: number | undefined;
  /** Undefined for a database, whose server decides. */
  readonly encrypted: boolean | undefined;
  readonly readOnly: boolean;
  /** The embedding model of the pack. */
  readonly model: EmbeddingIdentity;
  /** Memories per state; empty states are left out. */
  readonly states: Readonly<Partial<Record<LifecycleState, number>>>;
  /** Pending work on stored texts, and how much of it has failed before. */
  readonly jobs: { readonly pending: number; readonly failed: number };
  /** Pending extractions, and how many failed permanently. */
  readonly extractions: { readonly pending: number; readonly failed: number };
  /** Load of the embedding model in this process; undefined where it is not counted, and for one owner. */
  readonly embeddings: EmbedderUse | undefined;
  /** Receipts that are kept. */
  readonly receipts: number;
  /** Stored pictures of events. */
  readonly blobs: BlobTotals;
};

/** Reading what is stored; read-only. */
export type InspectMethods = {
  getEvent(eventId: string, userId?: string): Promise<MemoryEvent | undefined>;
  /** A blob such as `metadata.thumbnail`; null for an unknown key, or one of another owner. @throws SvcError invalid_argument */
  getBlob(key: string, options?: BlobOptions): Promise<Uint8Array | null>;
  /** The same with its media type; undefined instead of null. */
  readBlob(key: string, options?: BlobOptions): Promise<KeptBlob | undefined>;
  /** Newest first. */
  getEvents(query: EventQuery): Promise<readonly MemoryEvent[]>;
  /** Undefined for an unknown node, one of another owner, or (unless `includeSuperseded`) an inactive one. */
  getNode(
    nodeId: string,
    options?: { readonly userId?: string | undefined; readonly includeSuperseded?: boolean },
  ): Promise<MemoryNode | undefined>;
  queryNodes(query?: NodeQuery): Promise<readonly MemoryNode[]>;
  /** One page of all of an owner's memories by ascending id. */
  scanNodes(query: ScanQuery): Promise<ScanPage>;
  /** All of an owner's memories by ascending id, page by page; complete if the store does not change. */
  iterNodes(query: IterateQuery): AsyncIterable<MemoryNode>;
  /** Active memories within some hops over edges. Undefined for an unknown memory, or one of another owner. */
  neighborhood(
    nodeId: string,
    options?: NeighborhoodOptions,
  ): Promise<readonly MemoryNode[] | undefined>;
  /** What replaced a memory, or what it replaced, nearest first. Undefined for an unknown memory, or one of another owner. */
  chain(nodeId: string, options?: ChainOptions): Promise<readonly MemoryNode[] | undefined>;
  /** Undefined for an unknown memory, or one of another owner. @throws SvcError invalid_argument for a malformed cursor */
  getProvenance(nodeId: string, options?: ProvenanceOptions): Promise<Provenance | undefined>;
  /** Memories that cite an event, in any state, by id. Undefined for an unknown event, or one of another owner. */
  getEventNodes(eventId: string, userId?: string): Promise<readonly MemoryNode[] | undefined>;
  /** What was extracted from an event. Undefined for an unknown event, one of another owner, or one without an extraction. */
  getExtraction(eventId: string, userId?: string): Promise<ExtractionRecord | undefined>;
  /** How far extraction from an event has come. Undefined as for `getExtraction`, or without such work. */
  extractionStatus(eventId: string, userId?: string): Promise<ExtractionStatus | undefined>;
  /** A failed count is 0; details that could not be read are missing. @throws SvcError storage_unavailable, pack_locked */
  stats(userId?: string): Promise<Stats>;
  /**
   * Resolves if store and model can answer.
   * @throws SvcError storage_unavailable; pack_locked; embedding_failed; or what else is wrong
   */
  ready(): Promise<void>;
  /** Whether the store is read-only: changes fail with pack_read_only. */
  isReadOnly(): Promise<boolean>;
};
