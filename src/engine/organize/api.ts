import type { LifecycleState } from "../../domain/enums.ts";
import type { FeedbackSignal } from "../../domain/feedback.ts";
import type { InstantInput } from "../../domain/lifecycle.ts";
import type { Edge, MemoryNode } from "../../domain/node.ts";
import type { Instant } from "../../lib/instant.ts";
import type { JsonObject } from "../../lib/json.ts";

export type RebuildInput = {
  /** Nodes to embed and write at a time, at least 1. Default 256. */
  readonly batchSize?: number | undefined;
  /** Recomputes every vector, even current ones. Default false. */
  readonly all?: boolean | undefined;
  /** Stops the work after the current batch when aborted; the next call continues. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each batch. */
  readonly onProgress?: ((progress: RebuildProgress) => void) | undefined;
};

/** Progress of a part of a rebuild, in nodes. */
export type RebuildProgress = {
  readonly phase: "vectors" | "texts";
  readonly done: number;
  readonly total: number;
};

export type RebuildResult = {
  /** Active nodes that are now in both indexes. */
  readonly nodesIndexed: number;
  /** Active nodes whose text is blank. */
  readonly nodesSkipped: number;
  readonly totalActive: number;
  /** Texts embedded in this call. */
  readonly nodesEmbedded: number;
};

/** The entry of `perJob` for work left pending by stores. */
export const MATERIALIZATION_DRAIN = "materialization_drain";

export type OrganizeInput = {
  /** Absent or null: all owners, each separately. */
  readonly userId?: string | null | undefined;
  /** Names of jobs, run in this order, a repeated one again. Absent or null: all but `feedback_apply`; empty: none. */
  readonly jobs?: readonly string[] | null | undefined;
  /** Milliseconds for all jobs together; jobs are skipped once they are spent. Default 5000 (a setting). */
  readonly budgetMs?: number | null | undefined;
  /** Writes nothing and lists the changes. Default false. */
  readonly dryRun?: boolean | null | undefined;
};

export type JobResult = {
  readonly job: string;
  readonly nodesProcessed: number;
  readonly nodesModified: number;
  /** Memories or groups that failed; the others were processed. */
  readonly errors: number;
  readonly durationMs: number;
  readonly details: JsonObject;
};

/** A change that a dry run did not make. */
export type WouldChange = {
  readonly job: string;
  /** Kind of the operation that would be recorded. */
  readonly operation: string;
  /** Its target, usually a memory. */
  readonly targetId: string;
  /** State of that memory, current or planned; undefined if it is not a memory. */
  readonly userId: string | undefined;
  readonly content: string | undefined;
  /** Undefined for a new memory, and like `to` if unchanged. */
  readonly from: LifecycleState | undefined;
  readonly to: LifecycleState | undefined;
};

export type OrganizeResult = {
  readonly jobsRun: readonly string[];
  /** Unknown jobs, failed ones, and those that ran out of time. */
  readonly jobsSkipped: readonly string[];
  /** Why: `unknown`, `no_budget`, an error code, or what the job needs. */
  readonly skippedBecause: Readonly<Record<string, string>>;
  readonly durationMs: number;
  readonly budgetRemainingMs: number;
  /** By name; the last run of each. With `materialization_drain` if work was pending. */
  readonly perJob: Readonly<Record<string, JobResult>>;
  /** Of a dry run: the first 1000, and how many more. */
  readonly wouldChange:
    | { readonly changes: readonly WouldChange[]; readonly more: number }
    | undefined;
};

export type SnapshotOptions = {
  /** Absent: any owner. */
  readonly userId?: string | null | undefined;
  /** Excludes what was stored later, or was not valid then. Absent: everything current. */
  readonly atTime?: InstantInput | null | undefined;
};

/** What is known about an entity: the tentative and stable memories one edge away, by type. */
export type EntitySnapshot = {
  readonly entityNode: MemoryNode;
  readonly facts: readonly MemoryNode[];
  readonly preferences: readonly MemoryNode[];
  readonly decisions: readonly MemoryNode[];
  readonly tasks: readonly MemoryNode[];
  /** Its edges: outgoing ones, then incoming ones. */
  readonly relationships: readonly Edge[];
  readonly generatedAt: Instant;
  /** All of it in one line. */
  readonly summaryText: string;
};

/** The outcome of an answer. */
export type FeedbackInput = {
  readonly query: string;
  /** Memories that were shown. */
  readonly surfacedNodeIds?: readonly string[] | null | undefined;
  readonly signalType: FeedbackSignal;
  /** The correct answer. */
  readonly correctionContent?: string | null | undefined;
  /** Default now. */
  readonly timestamp?: InstantInput | null | undefined;
};

/** Organizing memories, and index maintenance. */
export type OrganizeMethods = {
  /**
   * Runs jobs that promote, archive, merge and summarize; nothing is deleted, every change is recorded, a failed job is skipped.
   * @throws SvcError invalid_argument
   */
  organize(input?: OrganizeInput): Promise<OrganizeResult>;
  /** Keeps feedback in memory for 30 days; `organize` with `feedback_apply` turns it into weights. @throws SvcError invalid_argument */
  feedback(signal: FeedbackInput): Promise<void>;
  /** @throws SvcError invalid_argument unless it is an active memory of type entity */
  snapshot(entityId: string, options?: SnapshotOptions): Promise<EntitySnapshot>;
  /** Promotes an owner's due memories, as at the end of a conversation: `organize` with that job alone, for at most a second. */
  endSession(userId: string, sessionId?: string | null): Promise<OrganizeResult>;
  /**
   * Rebuilds the indexes while other processes keep working; the next call continues an interrupted one.
   * @throws SvcError storage_busy while another process rebuilds; the abort reason
   */
  rebuildIndexes(input?: RebuildInput): Promise<RebuildResult>;
};
