import type { EpistemicType, NodeType, Role, Scope, SourceType } from "../../domain/enums.ts";
import type { ProcessingResult, ProcessingStatus } from "../../domain/jobs.ts";
import type { InstantInput } from "../../domain/lifecycle.ts";
import type { MemoryEvent, MemoryNode } from "../../domain/node.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { PlannedChange } from "../../ports/store/graph.ts";
import type { ChangeCaller } from "../lifecycle/api.ts";

/** For optional members `undefined` and `null` both mean absent, except for `ttlDays`. */
export type StoreInput = {
  /** Exact source text; the event keeps it permanently. */
  readonly content: string;
  readonly userId: string;
  /** Compact text that is indexed, ranked and packed instead of `content`. */
  readonly retrievalContent?: string | null | undefined;
  readonly valueBindings?: readonly unknown[] | null | undefined;
  readonly sessionId?: string | null | undefined;
  /** Default `user`. */
  readonly role?: Role | undefined;
  /** 1 to 200 characters after trimming. */
  readonly speaker?: string | null | undefined;
  /** Default `note`. */
  readonly nodeType?: NodeType | null | undefined;
  /** Default `personal`. */
  readonly scope?: Scope | null | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | null | undefined;
  /** 0 to 1; absent: derived from the confidence matrix. */
  readonly confidence?: number | null | undefined;
  readonly epistemicType?: EpistemicType | null | undefined;
  readonly sourceType?: SourceType | null | undefined;
  readonly eventTime?: InstantInput | null | undefined;
  /** Inclusive; absent: admission time. */
  readonly validFrom?: InstantInput | null | undefined;
  /** Exclusive; needs an explicit earlier `validFrom`. */
  readonly validTo?: InstantInput | null | undefined;
  /** Integer >= 0; absent: the type's default; null: unlimited. */
  readonly ttlDays?: number | null | undefined;
  /** Memories of the owner and scope that this one replaces, at most 16, in the same transaction. */
  readonly supersedes?: readonly string[] | null | undefined;
  /** Not blank. The actor recorded for the replacement. Default: `userId`. */
  readonly actorId?: string | null | undefined;
  /** UUID; a retry with it returns the memory of the first call. */
  readonly requestId?: string | null | undefined;
};

export type StoreManyInput = {
  /** At most 1,000. */
  readonly items: readonly Omit<StoreInput, "userId" | "supersedes" | "actorId" | "requestId">[];
  readonly userId: string;
  /** UUID; a retry with it returns the memories of the first call. */
  readonly requestId?: string | null | undefined;
};

export type StoredBatch = {
  /** In the order of the items. */
  readonly memories: readonly Pick<StoreReceipt, "eventId" | "nodeId">[];
  /** How many cannot be found by meaning yet: their vectors follow by themselves. */
  readonly pending: number;
};

export type FastIngestItem = {
  readonly content: string;
  readonly role?: Role | undefined;
  readonly speaker?: string | null | undefined;
  readonly sessionId?: string | null | undefined;
  readonly scope?: Scope | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | null | undefined;
  readonly eventTime?: InstantInput | null | undefined;
};

export type FastIngestInput = FastIngestItem & { readonly userId: string };

export type FastIngestManyInput = {
  readonly items: readonly FastIngestItem[];
  readonly userId: string;
  /** UUID; a retry with it returns the event ids of the first call. */
  readonly requestId?: string | null | undefined;
};

export type ProcessPendingInput = {
  /** Absent: the pending work of all owners. */
  readonly userId?: string | undefined;
  /** Milliseconds >= 0, checked before each group of items; 0 only counts. Default 1000. */
  readonly budgetMs?: number | undefined;
};

export type IngestInput = {
  readonly content: string;
  readonly userId: string;
  /** Default `user`. */
  readonly role?: string | undefined;
  readonly speaker?: string | null | undefined;
  /** The singular first person of a `user` or `human` message is the owner. Default false. */
  readonly firstPersonOwner?: boolean | undefined;
  readonly sessionId?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | null | undefined;
  readonly eventTime?: InstantInput | null | undefined;
  readonly scope?: Scope | null | undefined;
  /** Whether to wait for the extraction, if that is on. Default false. */
  readonly waitForExtraction?: boolean | undefined;
};

/** One message of several. */
export type IngestMessage = Pick<
  IngestInput,
  "content" | "speaker" | "firstPersonOwner" | "metadata" | "eventTime"
> & { readonly role: string };

export type IngestBatchInput = {
  readonly messages: readonly IngestMessage[];
  readonly userId: string;
  readonly sessionId?: string | null | undefined;
  readonly scope?: Scope | null | undefined;
  /** Whether to wait until all their claims are stored. Default false. */
  readonly waitForExtraction?: boolean | undefined;
};

/** What happens to messages admitted for extraction. */
export type ExtractionStart = {
  /** The caller does not wait, and more may follow. */
  queued(lane: Pick<MemoryEvent, "userId" | "scope">): void;
  /** The caller does not wait, and no more follow. */
  soon(lane: Pick<MemoryEvent, "userId" | "scope">): void;
  /** Events of one owner and scope. @throws SvcError extraction_failed */
  waitFor(events: readonly MemoryEvent[]): Promise<void>;
};

/** A memory that a new one may replace: active, of the same owner and scope. */
export type NearMemory = {
  readonly node: MemoryNode;
  /** Cosine of the two texts, 0 to 1. */
  readonly similarity: number;
  /** Whether the two texts are the same, apart from white space and composed characters (NFC). */
  readonly identical: boolean;
};

export type StoreReceipt = {
  readonly eventId: Uuid;
  /** The new memory, or the one that said the same before. */
  readonly nodeId: Uuid;
  readonly node: MemoryNode;
  /** Whether the text was there already: the event is kept and confirms that memory. */
  readonly duplicate: boolean;
  readonly processingStatus: ProcessingStatus;
  /** At most three that the new one may replace or repeat, nearest first. Undefined: not searched, for lack of a vector. */
  readonly near: readonly NearMemory[] | undefined;
};

/** A memory that has just been stored and can be found. */
export type StoredMemory = {
  readonly event: MemoryEvent;
  readonly node: MemoryNode;
  /** Undefined: its text is blank, or has no vector yet. */
  readonly vector: Float32Array | undefined;
  /** The memories it replaced when it was stored. */
  readonly supersedes: readonly Uuid[];
};

/** Steps of a store besides storing. They never reject: a failed step is reported and skipped. */
export type StoreSteps = {
  /** The replacements of the memory, applied in the transaction that writes it. */
  readonly replace: (
    nodeIds: readonly Uuid[],
    node: MemoryNode,
    caller: ChangeCaller,
  ) => PlannedChange;
  /** Searches for memories that a new one may replace, nearest first, once its vector exists. Undefined: unknown. */
  readonly near: (
    node: MemoryNode,
  ) => (vector: Float32Array | undefined) => Promise<readonly NearMemory[] | undefined>;
  readonly after: (stored: StoredMemory) => Promise<void>;
  /**
   * The known memory that a stored one repeats; it cites the new event and replaces the stored one. Undefined if there is none.
   * @param isRetry only a repeat that was found before counts
   */
  readonly repeated: (
    stored: StoredMemory,
    near: readonly NearMemory[] | undefined,
    isRetry: boolean,
  ) => Promise<MemoryNode | undefined>;
  /** Drops all texts cached between stores. */
  readonly forget: () => void;
};

/** Storing memories and texts. */
export type WriteMethods = {
  /** Stores one memory and waits until it can be found. Returns the event's id. */
  store(input: StoreInput): Promise<Uuid>;
  /** Like `store`, with the created node, or the one that says the same already. @throws SvcError materialization_failed: the event is safe, its node is not */
  storeWithReceipt(input: StoreInput): Promise<StoreReceipt>;
  /** Stores memories in one transaction and waits until they can be found. @throws SvcError request_conflict */
  storeMany(input: StoreManyInput): Promise<StoredBatch>;
  /**
   * Admits a message: extracted later if that is on, else stored as by `store`.
   * @returns the event's id
   * @throws SvcError extraction_failed if the caller waits; the message is kept
   */
  ingest(input: IngestInput): Promise<Uuid>;
  /**
   * Like `ingest` for the messages of a session, all checked first.
   * @returns the events' ids
   * @throws SvcError invalid_argument, invalid_speaker (message begins with `messages[i]`); extraction_failed if the caller waits
   */
  ingestBatch(input: IngestBatchInput): Promise<readonly Uuid[]>;
  /** Admits one event durably without embedding it; `processPending` makes it searchable. Returns the event's id. */
  ingestFast(input: FastIngestInput): Promise<Uuid>;
  /** In one transaction; ids in input order. @throws SvcError request_conflict if `requestId` was used with different items */
  ingestFastMany(input: FastIngestManyInput): Promise<readonly Uuid[]>;
  /** Builds nodes and index entries of admitted events until the work or the budget ends. */
  processPending(input?: ProcessPendingInput): Promise<ProcessingResult>;
  /** Undefined for an unknown event, or one of another owner. */
  processingStatus(eventId: string, userId?: string): Promise<ProcessingStatus | undefined>;
};
