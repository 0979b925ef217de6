import type { Edge } from "../domain/edge.ts";
import type { ConditionState, LifecycleState, NodeType, Scope } from "../domain/enums.ts";
import type { MemoryEvent } from "../domain/event.ts";
import type { MemoryNode } from "../domain/node.ts";
import type { InstantInput } from "../domain/validity.ts";
import type { Instant } from "../lib/instant.ts";
import type { Json } from "../lib/json.ts";
import type { Uuid } from "../lib/uuid.ts";
import type { ExtractionJob } from "../ports/graph-reads.ts";
import type { Operation } from "../ports/operation.ts";

/** What callers pass to change memories and to walk among them, and what they get. `null` and `undefined` both mean absent. */

/** Whose memories a change may touch, and in whose name it is recorded. */
export type ChangeCaller = {
  /** Given: memories of other owners are treated like missing ones. */
  readonly userId?: string | null | undefined;
  /** Not blank. Default: `userId`, else `system`. */
  readonly actorId?: string | null | undefined;
};

export type TransitionOptions = ChangeCaller & {
  /** UUID, per owner: a retry with it changes nothing. */
  readonly requestId?: string | null | undefined;
};

export type ReinforceOptions = {
  readonly userId?: string | null | undefined;
  /** An event of the memory's owner and scope. */
  readonly evidenceId?: string | null | undefined;
  /** UUID, per owner: a retry with it changes nothing. */
  readonly requestId?: string | null | undefined;
};

export type ClaimsOptions = ChangeCaller & {
  /** An event of the memories' owner and scope. */
  readonly evidenceId?: string | null | undefined;
  /** UUID, per owner: a retry with it changes nothing, whatever happened since. */
  readonly requestId?: string | null | undefined;
};

export const EVALUATION_METHODS = ["user", "tool", "rule", "llm"] as const;
export type EvaluationMethod = (typeof EVALUATION_METHODS)[number];

export type ConditionInput = ChangeCaller & {
  readonly state: ConditionState;
  /** An event of the memory's owner and scope. */
  readonly evidenceId?: string | null | undefined;
  /** UUID, per owner: a retry with it changes nothing. */
  readonly requestId?: string | null | undefined;
  /** Default `user`. */
  readonly evaluationMethod?: EvaluationMethod | null | undefined;
  /** Not blank, at most 4000 characters after trimming. */
  readonly reason?: string | null | undefined;
  /** Default now. */
  readonly evaluatedAt?: InstantInput | null | undefined;
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

/** One page of a walk over all of an owner's memories; complete for an unchanged store. */
export type ScanPage = {
  readonly nodes: readonly MemoryNode[];
  /** Exact. */
  readonly hasMore: boolean;
  /** The last id of the page; undefined on the last page. */
  readonly nextCursor: Uuid | undefined;
};

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
  /** `nextOperationCursor` of the page before. */
  readonly operationCursor?: string | null | undefined;
  /** Integer 1 to 1000. Default 100. */
  readonly operationLimit?: number | null | undefined;
};

/** Where a memory comes from and what was done to it. */
export type Provenance = {
  readonly node: MemoryNode;
  /** In the order in which they were first cited; those beyond `LIMITS.pageChars` of text are left out. */
  readonly evidenceEvents: readonly MemoryEvent[];
  /** Cited events that are missing, of another owner or of another scope. */
  readonly missingEvidenceRefs: readonly Uuid[];
  /** What was done to this memory, oldest first. */
  readonly operations: readonly Operation[];
  readonly contradictionEdges: readonly Edge[];
  /** Undefined on the last page. */
  readonly nextOperationCursor: string | undefined;
};

/** What a language model extracted from an event, as it was recorded. */
export type ExtractionRecord = {
  readonly schemaVersion: 1;
  readonly groundingPolicy: string;
  readonly eventId: Uuid;
  readonly userId: string;
  readonly scope: Scope;
  readonly contentHash: string;
  readonly provider: string;
  readonly model: string;
  readonly result: Json;
  readonly createdAt: Instant;
  readonly batchId: string | undefined;
};

/** How far extraction from an event has come. */
export type ExtractionStatus = {
  readonly job: ExtractionJob;
  /** `failed`: given up, until somebody asks for another try. */
  readonly status: "pending" | "running" | "complete" | "failed";
  readonly phase: "extraction" | "preparation" | "publication" | "complete";
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
  /** Without a pipeline the memory is complete when the call returns, whichever it says. Default false. */
  readonly waitForExtraction?: boolean | undefined;
};
