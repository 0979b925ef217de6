import type { Scope } from "../../domain/enums.ts";
import type { MemoryEvent } from "../../domain/event.ts";
import type { KnownMemories } from "../../domain/extraction/plan/context.ts";
import type { DerivationPlan } from "../../domain/extraction/plan/derivation-plan.ts";
import type { ExtractionJob } from "../../domain/jobs.ts";
import type { Owner } from "../../domain/owner.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { AuditRecord } from "./audit-record.ts";

/** The right to extract one event, until its lease ends. */
export type ExtractionClaim = {
  readonly event: MemoryEvent;
  /** Place of the job in the queue: the order of admission. */
  readonly order: number;
  /** Counts the claims and the replans of the job. */
  readonly generation: number;
  /** Tries, this one included. */
  readonly attempts: number;
  /** Counts the plans of the event, from 1. */
  readonly revision: number;
  /** The plan that was kept and not carried out. */
  readonly plan: AuditRecord | undefined;
  /** What was extracted from the event before, whole. */
  readonly record: AuditRecord | undefined;
};

/** Which jobs may be claimed. */
export type ExtractionFilter = {
  readonly owner: Owner;
  readonly scope?: Scope | undefined;
  readonly eventId?: Uuid | undefined;
  /** Highest order, inclusive. */
  readonly upTo?: number | undefined;
  /** Whether a job that waits after a failure is passed over. */
  readonly isDueOnly: boolean;
};

/** A turn that waits behind a claimed one: same owner, scope and session. */
export type WaitingTurn = {
  readonly event: MemoryEvent;
  readonly order: number;
  readonly isRecorded: boolean;
};

/** What of the memories of an owner and scope a plan may need. */
export type KnownLookup = {
  readonly event: MemoryEvent;
  /** Names of entities, as `namesToFind` gives them. */
  readonly names: readonly string[];
  /** Values of claims, as `valuesToFind` gives them: claims that none of them may be about are left out. */
  readonly values: readonly string[];
  /** Memories that the request showed. */
  readonly shownIds: readonly Uuid[];
};

/** What carries a plan out, whole or not at all. */
export type PlanPublication = {
  readonly plan: DerivationPlan;
  /** One for each node of the plan, in their order; undefined for one that gets none. */
  readonly vectors: readonly (Float32Array | undefined)[];
  readonly at: Instant;
};

/** How a try ended that published nothing. */
export type ExtractionEnd =
  /** The reason code. Tries 1 to 3 are repeated later, the fourth ends the job. */
  { readonly failure: string } | "cancelled";

/** Owners and scopes with extraction work that is not done. */
export type ExtractionLane = {
  readonly userId: string;
  readonly scope: Scope;
  /** Highest order of it. */
  readonly upTo: number;
  /** When the first of its jobs is due; undefined: now. */
  readonly due: Instant | undefined;
};

/**
 * Extraction of admitted events, one after the other for each owner and scope.
 *
 * For callers: a claim is leased for the seconds that are given and renewed while its holder works. Every write under a claim throws
 * `takenOver` and writes nothing once the claim is over.
 * For implementers: a job that is pending or running holds up the later ones of its owner and scope; one that has failed or is
 * complete does not. Each write checks generation and lease in its own transaction.
 */
export type ExtractionQueue = {
  /** Claims the first job of its lane that fits. A lease of a process that is known to be gone is over. */
  claimExtraction(
    filter: ExtractionFilter,
    leaseSeconds: number,
  ): Promise<ExtractionClaim | undefined>;
  /** @returns false when the claim is over */
  renewExtraction(claim: ExtractionClaim, leaseSeconds: number): Promise<boolean>;
  /** Turns after the claimed one that wait, in the order of the queue; none for an event without session. */
  waitingTurns(
    claim: ExtractionClaim,
    page: { readonly upTo: number | undefined; readonly limit: number },
  ): Promise<readonly WaitingTurn[]>;
  /**
   * The newest turns of a claimed one's session and scope that were admitted before it and are not blank, oldest first; none for an
   * event without session.
   */
  earlierTurns(claim: ExtractionClaim, limit: number): Promise<readonly MemoryEvent[]>;
  /** Keeps what was answered: a record that is there already stays as it is. @throws SvcError (`isTakenOver`) */
  saveExtractions(claim: ExtractionClaim, records: readonly AuditRecord[]): Promise<void>;
  knownMemories(lookup: KnownLookup): Promise<KnownMemories>;
  /** Keeps a plan before it is carried out. @throws SvcError (`isTakenOver`) */
  savePlan(claim: ExtractionClaim, plan: DerivationPlan, at: Instant): Promise<AuditRecord>;
  /**
   * Carries a plan out (`publish` of the domain), with its index entries, its receipt and the end of the job, in one transaction.
   * A job that is complete stays as it is.
   * @returns the node because of which the plan no longer fits; then nothing is written
   * @throws SvcError (`isTakenOver`)
   */
  publishPlan(
    claim: ExtractionClaim,
    publication: PlanPublication,
  ): Promise<{ readonly staleId: Uuid } | undefined>;
  /** @returns the job afterwards; as it is if the claim is over */
  endExtraction(claim: ExtractionClaim, end: ExtractionEnd, at: Instant): Promise<ExtractionJob>;
  /** Undefined for an unknown event, one of another owner, or one without such work. */
  extractionJob(eventId: Uuid, owner: Owner): Promise<ExtractionJob | undefined>;
  /**
   * Makes a job that waits or has failed due now. A replan gives up a kept plan too, unless the job is complete or held.
   * @returns as `extractionJob`
   */
  retryExtraction(
    eventId: Uuid,
    owner: Owner,
    how: { readonly isReplan: boolean; readonly at: Instant },
  ): Promise<ExtractionJob | undefined>;
  countExtractions(owner: Owner): Promise<{ readonly pending: number; readonly failed: number }>;
  extractionLanes(owner: Owner): Promise<readonly ExtractionLane[]>;
};
