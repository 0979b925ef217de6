import { type FadingRules, fateOf, unusedBefore } from "../../../domain/fading.ts";
import { isActive, nextState } from "../../../domain/lifecycle.ts";
import { mayBePromoted } from "../../../domain/metadata.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { addDays, type Instant } from "../../../lib/instant.ts";
import type { JsonObject } from "../../../lib/json.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Graph } from "../../../ports/store/graph.ts";
import type { Store } from "../../../ports/store/store.ts";
import type { Aging, Upkeep } from "../../../ports/store/work.ts";
import type { EngineDeps } from "../../deps.ts";
import { changeEntry } from "../../lifecycle/change-one.ts";
import {
  isContested,
  opponentsOf,
  settleUnopposed,
  unopposedOf,
} from "../../lifecycle/disputes.ts";
import { changeEach, expireSome, type Tally } from "../../lifecycle/expire.ts";
import { eachOwner, type JobCounts, type JobRun, type OrganizerJob } from "./job.ts";

/** Makes tentative memories stable once they are old enough and have enough evidence, oldest first. */
export function promote(
  deps: Pick<EngineDeps<Graph & Upkeep>, "store" | "ids" | "warn" | "settings">,
): OrganizerJob {
  const { promotionAgeDays, promotionEvidenceCount: evidence } = deps.settings.organizer;
  return {
    name: "promote",
    work: async (run) => {
      const createdBefore = addDays(run.now, -promotionAgeDays);
      // Nothing can be that old.
      if (createdBefore === undefined) return { nodesProcessed: 0, nodesModified: 0, errors: 0 };
      const choose: ChooseStep = (node) =>
        node.lifecycleState === "tentative" &&
        mayBePromoted(node) &&
        node.createdAt <= createdBefore &&
        node.evidenceRefs.length >= evidence
          ? { step: "promote", why: { job: "promote", reason: "age_and_evidence" } }
          : undefined;
      return walkAging(deps, run, { kind: "tentative", createdBefore, evidence }, (nodes, most) =>
        stepEach(deps, run, nodes.slice(0, most), choose),
      );
    },
  };
}

type FadeDeps = Pick<EngineDeps<Graph & Upkeep>, "store" | "ids" | "warn" | "settings">;

const SWEEP = "decay_sweep";

/** Archives what has faded; contested claims without confidence become deprecated. */
export function decaySweep(deps: FadeDeps): OrganizerJob {
  return fade(deps, SWEEP, deps.settings.organizer);
}

/** Archives memories with hardly any salience. */
export function archive(deps: FadeDeps): OrganizerJob {
  const { fading, forceArchiveSalienceThreshold } = deps.settings.organizer;
  const rules = {
    fading,
    fadeAfterDays: {},
    archiveSalienceThreshold: 0,
    archiveConfidenceThreshold: 0,
    deprecateConfidenceThreshold: 0,
    forceArchiveSalienceThreshold,
  };
  const { name, work } = fade(deps, "archive", rules);
  return { name, work: async (run) => leftBySweep(run) ?? work(run) };
}

/** Skipped if a sweep just ran, unless it left some. */
function leftBySweep({ before, isDryRun }: JobRun): JobCounts | undefined {
  if (before?.job !== SWEEP || isDryRun) return undefined;
  const { isWhole, nodesProcessed, nodesModified, errors } = before.counts;
  if (isWhole !== true || errors > 0) return undefined;
  return { nodesProcessed: nodesProcessed - nodesModified, nodesModified: 0, errors: 0 };
}

/** Where a walk stops: a superset of the memories that the rules affect. */
export function agingFaded(rules: FadingRules, now: Instant): Aging {
  const salience = Math.max(rules.archiveSalienceThreshold, rules.forceArchiveSalienceThreshold);
  return {
    kind: "faded",
    now,
    fading: rules.fading,
    salience,
    confidence: rules.deprecateConfidenceThreshold,
    unusedBefore: unusedBefore(now, rules.fadeAfterDays),
  };
}

function fade(deps: FadeDeps, name: string, rules: FadingRules): OrganizerJob {
  return {
    name,
    work: (run) =>
      walkAging(deps, run, agingFaded(rules, run.now), async (nodes, most) => {
        const uses = await usesOf(deps, nodes, rules);
        const fateAt = (node: MemoryNode) => fateOf(node, run.now, rules, uses?.get(node.id));
        // Recently used memories stay and must not use up the limit.
        const faded = nodes.filter(fateAt).slice(0, most);
        const tally = await stepEach(deps, run, faded, (node) => {
          const fate = isActive(node.lifecycleState) && fateAt(node);
          if (fate === false || fate === undefined) return undefined;
          const { step, rule: reason, ...values } = fate;
          return { step, why: { job: name, reason, ...values } };
        });
        if (!run.isDryRun) {
          await settleUnopposed(deps, await opponentsOf(deps, faded.filter(isContested)));
        }
        return tally;
      }),
  };
}

/** The original profile ignores uses. */
async function usesOf(
  { store }: FadeDeps,
  nodes: readonly MemoryNode[],
  { fading }: FadingRules,
): Promise<ReadonlyMap<Uuid, Instant> | undefined> {
  if (fading === "original" || nodes.length === 0) return undefined;
  return await store.lastUses(nodes.map(({ id }) => id));
}

const PAGE = 500;
const NOTE = "Archived memories keep their text; nothing is removed.";

type SweepDeps = Pick<EngineDeps<Graph & Upkeep & Pick<Store, "owners">>, "store" | "warn" | "ids">;

/** Archives what is past its retention, earliest first, and ends disputes with one side left. */
export function tombstoneSweep(deps: SweepDeps): OrganizerJob {
  return {
    name: "tombstone_sweep",
    work: async (run) => {
      const nodesProcessed = await deps.store.countRetained(run.owner);
      const read = { owner: run.owner, now: run.now, limit: PAGE };
      let nodesModified = 0;
      let errors = 0;
      for (;;) {
        const { changed, failed } = await expireSome(deps, read, run);
        nodesModified += changed;
        errors += failed;
        // A dry run, or a failed one, would find the same again.
        if (run.isDryRun || changed === 0 || !(await run.pause())) break;
      }
      nodesModified += await settleLeft(deps, run);
      return { nodesProcessed, nodesModified, errors, details: { note: NOTE } };
    },
  };
}

async function settleLeft({ store, ids }: SweepDeps, run: JobRun): Promise<number> {
  const contradictionsOf: Graph["contradictionsOf"] = (id, owner) =>
    store.contradictionsOf(id, owner);
  let settled = 0;
  for await (const userId of eachOwner(store, run)) {
    for await (const node of unopposedOf(store, userId)) {
      const deps = { store: { contradictionsOf, change: run.change }, ids };
      settled += (await settleUnopposed(deps, [node])).length;
      if (!(await run.pause())) return settled;
    }
  }
  return settled;
}

/** Walks over memories page by page within the budget and passes matching ones to `change`, at most `most`. */
async function walkAging(
  { store }: { readonly store: Upkeep },
  run: JobRun,
  at: Aging,
  change: (nodes: readonly MemoryNode[], most: number) => Promise<Tally>,
): Promise<JobCounts> {
  let nodesProcessed = 0;
  let nodesModified = 0;
  let errors = 0;
  for (let after: string | undefined; ; ) {
    const page = await store.walkAging({ owner: run.owner, at, after, limit: run.pageSize });
    const { changed, failed } = await change(page.nodes, run.most - nodesModified);
    nodesProcessed += page.considered;
    nodesModified += changed;
    errors += failed;
    after = page.next;
    const isEnough = after === undefined || nodesModified >= run.most;
    if (isEnough || !(await run.pause())) {
      const isWhole = after === undefined && nodesModified < run.most && !run.isOver();
      return { nodesProcessed, nodesModified, errors, isWhole };
    }
  }
}

/** The actor for automatic changes. */
const ACTOR = "system";

type NextStep = { readonly step: "promote" | "archive" | "deprecate"; readonly why: JsonObject };

/** Decides inside the transaction. Undefined: no change. */
type ChooseStep = (node: MemoryNode, at: Instant) => NextStep | undefined;

/** Changes states, each with a recorded reason. */
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
    // Ranking takes the last change as the age of a memory; a promotion must not make it newer.
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
