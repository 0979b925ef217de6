import type { MemoryEvent } from "../domain/event.ts";
import type { ProcessingResult, ProcessingStatus } from "../domain/jobs.ts";
import type { MemoryNode } from "../domain/node.ts";
import type { OwnerMemories, OwnerSummary } from "../domain/pack-owner.ts";
import type {
  AssertionAggregation,
  QuantityAggregation,
  TextAggregation,
} from "../domain/records/aggregation.ts";
import type { AnswerCitations } from "../domain/records/citations.ts";
import type { AssertionState } from "../domain/records/claim-state.ts";
import type { Uuid } from "../lib/uuid.ts";
import type {
  AssertionQueryInput,
  QuantityQueryInput,
  QuantityQuestionInput,
  StateQueryInput,
} from "./aggregate/api.ts";
import type {
  ChainOptions,
  EventQuery,
  ExtractionRecord,
  ExtractionStatus,
  IterateQuery,
  NeighborhoodOptions,
  NodeQuery,
  Provenance,
  ProvenanceOptions,
  ScanPage,
  ScanQuery,
  Stats,
} from "./inspect/api.ts";
import type {
  ClaimsOptions,
  ConditionInput,
  ReinforceOptions,
  TransitionOptions,
} from "./lifecycle/api.ts";
import type { RebuildInput, RebuildResult } from "./organize/api.ts";
import type { MoveOwnerInput } from "./owners/api.ts";
import type { AnswerCitationsInput, AnswerCitationsQuery, KeptReceipt } from "./receipts/api.ts";
import type { Explanation } from "./receipts/explain.ts";
import type { MemoryBundle, RetrievalResponse, RetrieveInput } from "./retrieve/api.ts";
import type { AnswerabilityInput } from "./verify/answerability.ts";
import type {
  AnswerabilityAssessment,
  ClaimVerification,
  Evidence,
  VerifyBundleOptions,
  VerifyClaimOptions,
} from "./verify/api.ts";
import type {
  FastIngestInput,
  FastIngestManyInput,
  IngestInput,
  ProcessPendingInput,
  StoreInput,
  StoreReceipt,
} from "./write/api.ts";

/**
 * The memory of one pack or database. Every method checks its input before it does anything, and rejects with SvcError. After
 * `close()` every method rejects at once with code engine_closed.
 */
export type MemoryEngine = {
  /** Stores one memory and waits until it can be found. Returns the event's id. */
  store(input: StoreInput): Promise<Uuid>;
  /**
   * Like `store`; also returns the created node.
   * @throws SvcError materialization_failed if the event is safe but its node could not be written
   */
  storeWithReceipt(input: StoreInput): Promise<StoreReceipt>;
  /**
   * Stores a message. With a pipeline it would be extracted; this build has none and stores it like `store`. Returns the event's
   * id.
   */
  ingest(input: IngestInput): Promise<Uuid>;
  /** Admits one event durably, without embedding it; `processPending` makes it findable. Returns the event's id. */
  ingestFast(input: FastIngestInput): Promise<Uuid>;
  /**
   * Admits many events in one transaction; ids in input order.
   * @throws SvcError request_conflict if `requestId` was used with different items
   */
  ingestFastMany(input: FastIngestManyInput): Promise<readonly Uuid[]>;
  /** Builds nodes and index entries of admitted events until the work or the budget ends. */
  processPending(input?: ProcessPendingInput): Promise<ProcessingResult>;
  /** Undefined for an unknown event, or one of another owner. */
  processingStatus(eventId: string, userId?: string): Promise<ProcessingStatus | undefined>;
  getEvent(eventId: string, userId?: string): Promise<MemoryEvent | undefined>;
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
  /** How far extraction from an event has come. Undefined as for `getExtraction`, and if there is no such work. */
  extractionStatus(eventId: string, userId?: string): Promise<ExtractionStatus | undefined>;

  /**
   * Makes a tentative memory stable.
   * @throws SvcError not_found; invalid_transition; request_conflict if `requestId` was used for something else
   */
  promote(nodeId: string, options?: TransitionOptions): Promise<MemoryNode>;
  /** Permanently retires a memory; it is no longer found. Otherwise like `promote`. */
  archive(nodeId: string, options?: TransitionOptions): Promise<MemoryNode>;
  /**
   * Raises confidence and salience of a memory in any state.
   * @throws SvcError not_found for the memory or the evidence; invalid_argument for evidence of another scope;
   *   request_conflict
   */
  reinforce(nodeId: string, options?: ReinforceOptions): Promise<MemoryNode>;
  /**
   * Replaces one memory with another of the same owner and scope. An exact retry changes nothing.
   * @returns the replaced memory, then its replacement
   * @throws SvcError not_found; invalid_argument; invalid_transition
   */
  supersede(
    oldNodeId: string,
    newNodeId: string,
    options?: ClaimsOptions,
  ): Promise<readonly [MemoryNode, MemoryNode]>;
  /**
   * Marks two claims as contradicting each other; both become contested. Otherwise like `supersede`. @returns both, in the given
   * order
   */
  contradict(
    firstId: string,
    secondId: string,
    options?: ClaimsOptions,
  ): Promise<readonly [MemoryNode, MemoryNode]>;
  /**
   * Ends a contradiction: the winner becomes stable, the loser deprecated. Otherwise like `supersede`. @returns winner, then
   * loser
   */
  resolveContradiction(
    winnerId: string,
    loserId: string,
    options?: ClaimsOptions,
  ): Promise<readonly [MemoryNode, MemoryNode]>;
  /**
   * Records whether the condition of a conditional memory holds.
   * @throws SvcError not_found; invalid_argument; request_conflict
   */
  evaluateCondition(nodeId: string, input: ConditionInput): Promise<MemoryNode>;

  /** Counts and groups stored claims, exactly. */
  aggregateAssertions(input: AssertionQueryInput): Promise<AssertionAggregation>;
  /** Sums stored amounts, exactly; units are never converted. */
  aggregateQuantities(input: QuantityQueryInput): Promise<QuantityAggregation>;
  /** Plans such a sum from a plain question; an unsupported question is answered without a scan. */
  aggregateQuantitiesFromText(input: QuantityQuestionInput): Promise<TextAggregation>;
  /** What is claimed about a subject at a moment, and what was before; never which claim is true. */
  getAssertionState(input: StateQueryInput): Promise<AssertionState>;
  retrieve(input: RetrieveInput): Promise<RetrievalResponse>;
  /**
   * The receipt of a retrieval, checked again. Undefined for an unknown request, one of another owner, and once it is no longer
   * kept.
   * @throws SvcError storage_failed naming the retrieval if the receipt is damaged
   */
  getRetrievalReceipt(requestId: string, userId?: string): Promise<KeptReceipt | undefined>;
  /**
   * Why each record was or was not in the context of a retrieval, from its receipt alone. Otherwise like `getRetrievalReceipt`.
   */
  explain(requestId: string, userId?: string): Promise<Explanation | undefined>;
  /**
   * Records which memories an answer was made from. Changes neither memories nor ranking; an exact retry returns the first
   * record.
   * @throws SvcError not_found without such a receipt; bad_citation for a memory whose text was not in that context;
   *   request_conflict if the citation's id was used with different inputs
   */
  recordAnswerCitations(input: AnswerCitationsInput, userId: string): Promise<AnswerCitations>;
  /** Undefined for an unknown record, or one of another owner. */
  getAnswerCitations(citationId: string, userId: string): Promise<AnswerCitations | undefined>;
  /** By ascending id; ends early at 8 Mi characters of records. */
  listAnswerCitations(query: AnswerCitationsQuery): Promise<readonly AnswerCitations[]>;
  /**
   * Whether the context of a retrieval contains what an answer needs, according to a language model. Needs a context whose
   * records can be cited (`packing.context_citations`).
   * @throws SvcError unsupported without such a model in the settings; model_failed; model_timeout
   */
  assessAnswerability(input: AnswerabilityInput): Promise<AnswerabilityAssessment>;
  /**
   * Whether evidence supports or refutes a claim, according to a local model.
   * @throws SvcError unsupported without such a model in the settings; model_failed
   */
  verifyClaim(
    claim: string,
    evidence: readonly Evidence[],
    options?: VerifyClaimOptions,
  ): Promise<ClaimVerification>;
  /** The same with the records of a context as evidence; they must be citable. */
  verifyBundle(
    claim: string,
    bundle: MemoryBundle,
    options?: VerifyBundleOptions,
  ): Promise<ClaimVerification>;
  /**
   * The owner of a person's calls that name none: the one recorded in the pack, else the only owner there is. Undefined if there
   * are several. Methods that require an owner do not use it.
   */
  packOwner(): Promise<string | undefined>;
  /** Like `packOwner`; an unused pack records `userId`, by default the system user. */
  claimPack(userId?: string): Promise<string | undefined>;
  /** Everyone who has anything in the pack, those with the most memories first. */
  listOwners(): Promise<readonly OwnerSummary[]>;
  /** Sets and records the owner of the pack. */
  usePackOwner(userId: string, actorId: string): Promise<void>;
  /**
   * Renames an owner, or joins one with another: everything of the first is given to the second, nothing stays under the old
   * name, and the audit log records it. One transaction. The content of events never changes.
   * @returns what was moved, or would be
   * @throws SvcError invalid_argument if there is nothing to move, or `into` does not match `isJoin`
   */
  moveOwner(input: MoveOwnerInput): Promise<OwnerSummary>;
  /** The owners with the most memories, at most 5. */
  ownersWithMemories(): Promise<readonly OwnerMemories[]>;
  /** A failed count is 0. */
  stats(userId?: string): Promise<Stats>;
  /**
   * Rebuilds the indexes from the graph, with the configured model; other processes keep reading and writing. Current entries are
   * kept unless `all`. The next call continues an interrupted one.
   * @throws SvcError storage_busy while another process rebuilds; the signal's reason when aborted
   */
  rebuildIndexes(input?: RebuildInput): Promise<RebuildResult>;
  /**
   * Closes the files of an encrypted directory pack and forgets its key: every call fails with pack_locked until `unlock`.
   * @throws SvcError unsupported for a single-file pack, and for an unencrypted one
   */
  lock(): Promise<void>;
  /** Opens a locked pack again. @throws SvcError encryption_failed for a wrong key; the pack stays locked */
  unlock(key: string): Promise<void>;
  /** Finishes queued work, then releases model and files. Idempotent. */
  close(): Promise<void>;
};
