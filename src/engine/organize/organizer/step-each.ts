import { reasonCode } from "../../../domain/errors.ts";
import { nextState } from "../../../domain/lifecycle.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { JsonObject } from "../../../lib/json.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { ChangeSnapshot, Decision } from "../../../ports/store/changes.ts";
import type { EngineDeps } from "../../deps.ts";
import { isOutOfReach } from "../../lifecycle/expire.ts";
import { changeEntry } from "../../lifecycle/request-keys.ts";
import type { JobRun } from "./job.ts";

/** The actor of what is changed without being asked for. */
const ACTOR = "system";

/** What is to become of a memory, and why, in the words of its record. */
export type NextStep = {
  readonly step: "promote" | "archive" | "deprecate";
  readonly why: JsonObject;
};

/** Decides about a memory as it is in the transaction. Undefined: it stays. */
export type ChooseStep = (node: MemoryNode, at: Instant) => NextStep | undefined;

export type Tally = { readonly changed: number; readonly failed: number };

type StepDeps = Pick<EngineDeps, "ids" | "warn">;

/**
 * Moves memories to their next states, batch after batch in transactions of their own, until all are done or the run is over. One
 * that cannot be changed is reported and left; the others are changed.
 * @throws SvcError pack_locked; engine_closed; or that the claim is over
 */
export async function stepEach(
  deps: StepDeps,
  run: JobRun,
  nodes: readonly MemoryNode[],
  choose: ChooseStep,
): Promise<Tally> {
  let changed = 0;
  let failed = 0;
  for (let at = 0; at < nodes.length; at += run.batchSize) {
    if (at > 0 && !(await run.pause())) break;
    const ids = nodes.slice(at, at + run.batchSize).map(({ id }) => id);
    const done = await stepBatch(deps, run, ids, choose);
    changed += done.changed;
    failed += done.failed;
  }
  return { changed, failed };
}

async function stepBatch(
  deps: StepDeps,
  run: JobRun,
  ids: readonly Uuid[],
  choose: ChooseStep,
): Promise<Tally> {
  const [only, ...others] = ids.map((id) => ({ id, operationId: deps.ids.next() }));
  if (only === undefined) return { changed: 0, failed: 0 };
  const targets = [only, ...others];
  try {
    const reads = { nodeIds: ids, auditRecordIds: [], eventIds: [] };
    const changed = await run.change(reads, (snapshot) => decide(snapshot, targets, choose));
    return { changed, failed: 0 };
  } catch (error) {
    if (isOutOfReach(error)) throw error;
    if (others.length > 0) return stepAlone(deps, run, ids, choose);
    deps.warn(`organize: memory ${only.id} was not changed (${reasonCode(error)})`);
    return { changed: 0, failed: 1 };
  }
}

/** One bad memory must not hold up the others. */
async function stepAlone(
  deps: StepDeps,
  run: JobRun,
  ids: readonly Uuid[],
  choose: ChooseStep,
): Promise<Tally> {
  let changed = 0;
  let failed = 0;
  for (const id of ids) {
    if (run.isOver()) break;
    const done = await stepBatch(deps, run, [id], choose);
    changed += done.changed;
    failed += done.failed;
  }
  return { changed, failed };
}

function decide(
  snapshot: ChangeSnapshot,
  targets: readonly { readonly id: Uuid; readonly operationId: Uuid }[],
  choose: ChooseStep,
): Decision<number> {
  const { at } = snapshot;
  const changes = targets.flatMap(({ id, operationId }) => {
    const before = snapshot.nodes.get(id);
    if (before === undefined) return [];
    const next = choose(before, at);
    if (next === undefined) return [];
    const lifecycleState = nextState(next.step, before.lifecycleState);
    if (lifecycleState === undefined) return [];
    const after: MemoryNode = { ...before, lifecycleState, updatedAt: at };
    const record = {
      version: 1,
      policy: "lifecycle_transitions_v1",
      action: next.step,
      organizer: next.why,
    };
    const dated = { operationId, actorId: ACTOR, at };
    return [{ after, entry: changeEntry("LIFECYCLE_CHANGED", { before, after, record }, dated) }];
  });
  if (changes.length === 0) return { change: undefined, result: 0 };
  const change = {
    nodes: changes.map(({ after }) => after),
    edges: [],
    auditRecords: changes.map(({ entry }) => entry),
  };
  return { change, result: changes.length };
}
