import { nextState } from "../../../domain/lifecycle.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { JsonObject } from "../../../lib/json.ts";
import type { EngineDeps } from "../../deps.ts";
import { changeEach, type Tally } from "../../lifecycle/change-each.ts";
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

/** Moves memories to their next states, as `changeEach` does, each with a record that says why. */
export function stepEach(
  { ids, warn }: Pick<EngineDeps, "ids" | "warn">,
  run: JobRun,
  nodes: readonly MemoryNode[],
  choose: ChooseStep,
): Promise<Tally> {
  const report = (id: string, reason: string) =>
    warn(`organize: memory ${id} was not changed (${reason})`);
  const isNew = true;
  const targets = nodes.map(({ id }) => ({ id, operationId: ids.next(), isNew }) as const);
  return changeEach({ ...run, report }, targets, (before, { operationId }, { at }) => {
    const next = choose(before, at);
    const state = next && nextState(next.step, before.lifecycleState);
    if (next === undefined || state === undefined) return undefined;
    // Ranking takes the last change for the age of a memory: nothing that was said became newer by a promotion.
    const updatedAt = next.step === "promote" ? before.updatedAt : at;
    const after: MemoryNode = { ...before, lifecycleState: state, updatedAt };
    const record = {
      version: 1,
      policy: "lifecycle_transitions_v1",
      action: next.step,
      organizer: next.why,
    };
    const dated = { operationId, actorId: ACTOR, at };
    return { after, entry: changeEntry("LIFECYCLE_CHANGED", { before, after, record }, dated) };
  });
}
