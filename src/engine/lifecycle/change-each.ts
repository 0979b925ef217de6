import { reasonCode, SvcError } from "../../domain/errors.ts";
import { isTakenOver } from "../../domain/jobs.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { AuditRecord } from "../../ports/store/audit-record.ts";
import type { ChangeSnapshot, Decision } from "../../ports/store/changes.ts";
import type { Graph } from "../../ports/store/graph.ts";

/** A memory that may be changed, and the id of the operation that says so. */
export type Target = {
  readonly id: Uuid;
  readonly operationId: Uuid;
  /** Nobody can have written that operation before. */
  readonly isNew?: true;
};

/** Under what many memories are changed. */
export type EachRun = {
  readonly change: Graph["change"];
  /** Memories in one transaction, at least 1. */
  readonly batchSize: number;
  /** Asked between two transactions. */
  readonly pause: () => Promise<boolean>;
  readonly isOver: () => boolean;
  /** Whether nothing is changed. */
  readonly isDryRun?: boolean;
  /** Reports what could not be changed, by the category of the cause. */
  readonly report: (id: Uuid, reason: string) => void;
};

export type ChangedOne = { readonly after: MemoryNode; readonly entry: AuditRecord };

/** Decides about one memory as it is in the transaction; undefined: it stays. Pure. */
export type DecideOne = (
  before: MemoryNode,
  target: Target,
  snapshot: ChangeSnapshot,
) => ChangedOne | undefined;

export type Tally = { readonly changed: number; readonly failed: number };

/** Whether no other memory can be changed either. */
export function isOutOfReach(error: unknown): boolean {
  return (
    error instanceof SvcError &&
    (error.code === "pack_locked" || error.code === "engine_closed" || isTakenOver(error))
  );
}

/**
 * Changes memories, batch after batch in transactions of their own, until all are done or the run is over. One that cannot be
 * changed is reported and left; the others are changed.
 * @throws SvcError pack_locked; engine_closed; or that the claim is over
 */
export async function changeEach(
  run: EachRun,
  targets: readonly Target[],
  decide: DecideOne,
): Promise<Tally> {
  let changed = 0;
  let failed = 0;
  for (let at = 0; at < targets.length; at += run.batchSize) {
    if (at === 0 ? run.isOver() : !(await run.pause())) break;
    const done = await changeBatch(run, targets.slice(at, at + run.batchSize), decide);
    changed += done.changed;
    failed += done.failed;
  }
  return { changed, failed };
}

async function changeBatch(
  run: EachRun,
  targets: readonly Target[],
  decide: DecideOne,
): Promise<Tally> {
  try {
    const reads = {
      nodeIds: targets.map(({ id }) => id),
      auditRecordIds: targets.flatMap((one) => (one.isNew === true ? [] : [one.operationId])),
      eventIds: [],
    };
    const changed = await run.change(reads, (snapshot) => decideAll(snapshot, targets, decide));
    return { changed, failed: 0 };
  } catch (error) {
    if (isOutOfReach(error)) throw error;
    // One bad memory must not hold up the others.
    if (targets.length > 1) return changeEach({ ...run, batchSize: 1 }, targets, decide);
    for (const { id } of targets) run.report(id, reasonCode(error));
    return { changed: 0, failed: 1 };
  }
}

function decideAll(
  snapshot: ChangeSnapshot,
  targets: readonly Target[],
  decide: DecideOne,
): Decision<number> {
  const done = targets.flatMap((target) => {
    const before = snapshot.nodes.get(target.id);
    return (before && decide(before, target, snapshot)) ?? [];
  });
  if (done.length === 0) return { change: undefined, result: 0 };
  const change = {
    nodes: done.map(({ after }) => after),
    edges: [],
    auditRecords: done.map(({ entry }) => entry),
  };
  return { change, result: done.length };
}
