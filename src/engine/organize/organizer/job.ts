import type { Owner } from "../../../domain/owner.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { JsonObject } from "../../../lib/json.ts";
import type { Change, ChangeSnapshot } from "../../../ports/store/changes.ts";
import type { Graph } from "../../../ports/store/graph.ts";

/** One kind of work of `organize`. */
export type OrganizerJob = {
  /** How callers name it. */
  readonly name: string;
  /** Changes what all owners share: it runs only when it is named, and never for one owner. Absent: no. */
  readonly isGlobal?: true;
  /**
   * Does the work. Whatever it does may be stopped between two transactions and is found done by the next run.
   * @throws what makes all of it impossible; the job counts as skipped then
   */
  readonly work: (run: JobRun) => Promise<JobCounts | Skipped>;
};

/** What a job did. A failure that concerns one memory or one group is an error here, and no exception. */
export type JobCounts = {
  readonly nodesProcessed: number;
  readonly nodesModified: number;
  readonly errors: number;
  /** Its names are those of the interface. */
  readonly details?: JsonObject;
  /** Of a walk over memories: whether it looked at all of them. Not part of the answer. */
  readonly isWhole?: boolean;
};

/** A job that cannot do anything here, for example without a language model. */
export type Skipped = { readonly skipped: string };

/** One time that a job runs. */
export type JobRun = {
  /** Whose memories; a job never brings those of two owners together. */
  readonly owner: Owner;
  /** Whether nothing may be written. `change` obeys by itself; what a job writes otherwise it shows with `show`. */
  readonly isDryRun: boolean;
  /** When the job began. */
  readonly now: Instant;
  /** The job right before and what it did, so that nothing has to be looked at twice. */
  readonly before: { readonly job: string; readonly counts: JobCounts } | undefined;
  /** Memories that one transaction changes at most. */
  readonly batchSize: number;
  /** Memories that are looked at between two pauses. */
  readonly pageSize: number;
  /** Memories that a job changes at most, about. */
  readonly most: number;
  /** Milliseconds of its budget that are left, at least 0. */
  readonly leftMs: () => number;
  /** Whether it is to end: its budget is spent, or the engine is closing. Ask between two memories. */
  readonly isOver: () => boolean;
  /** Lets calls in between. Wait for it after each transaction or page. @returns false when it is to end */
  readonly pause: () => Promise<boolean>;
  /** As `Graph.change`. In a dry run it decides as always, shows the change and writes nothing. */
  readonly change: Graph["change"];
  /** Lists a change that a dry run does not make; does nothing otherwise. */
  readonly show: (change: Change, snapshot: Pick<ChangeSnapshot, "nodes">) => void;
};
