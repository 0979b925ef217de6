import { parseOptionalNumber, parseUserId } from "../../domain/arguments.ts";
import { reasonCode } from "../../domain/errors.ts";
import type { ProcessingResult } from "../../domain/jobs.ts";
import type { MemoryNode } from "../../domain/node.ts";
import { ALL_OWNERS, type Owner } from "../../domain/owner.ts";
import { hasText } from "../../domain/search/turns.ts";
import { embeddingText } from "../../domain/speaker.ts";
import { untilAborted } from "../../lib/pause.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { SearchIndex } from "../../ports/store/search-index.ts";
import type { Materialization, MaterializationJob, WorkQueue } from "../../ports/store/work.ts";
import { whileHeld } from "../concurrency.ts";
import { type EngineDeps, unhurried } from "../deps.ts";
import { embedParts } from "../embed-parts.ts";
import type { ProcessPendingInput } from "./api.ts";
import { planRawNote } from "./plan.ts";

/** Index entries of a node, or why it has no vector. */
export type Embedding = Pick<Materialization, "vector" | "lexical" | "failure">;

export type ProcessingDeps = EngineDeps<WorkQueue & SearchIndex>;

/** Jobs of the first transaction, and of each later one: enough to share what one costs, few enough for calls that wait meanwhile. */
const FIRST_GROUP = 8;
const GROUP = 24;
/** Milliseconds for a long text: a small budget takes fewer jobs at a time. */
const LONG_TEXT_MS = 25;
const POLL_MS = 5;

/** Never rejects: failures are recorded in the job. Blank text has no entries. */
export async function embed(deps: EngineDeps<SearchIndex>, node: MemoryNode): Promise<Embedding> {
  if (!hasText(node.content)) return { vector: undefined, lexical: false, failure: undefined };
  try {
    if (!(await matchesPack(deps))) {
      return { vector: undefined, lexical: true, failure: "embedding_mismatch" };
    }
    return { vector: await vectorOf(deps, node), lexical: true, failure: undefined };
  } catch (error) {
    return { vector: undefined, lexical: true, failure: reasonCode(error) };
  }
}

/** @throws SvcError embedding_failed */
export function vectorOf(
  deps: Pick<EngineDeps, "embedder">,
  node: MemoryNode,
): Promise<Float32Array> {
  return deps.embedder.embedDocument(embeddingText(node), node.userId);
}

/** Whether the pack's vectors are of the configured model. */
export function matchesPack({ store, embedder }: EngineDeps<SearchIndex>): Promise<boolean> {
  return store.hasModel(embedder.identity);
}

export type DrainOptions = {
  readonly owner: Owner;
  /** Milliseconds, checked before each group. */
  readonly budgetMs: number;
  /** Skips jobs that failed recently. */
  readonly isDueOnly?: boolean;
  readonly signal?: AbortSignal | undefined;
};

/** Indexes pending jobs in groups, within budget and batch size. A failed job is tried once per pass. */
export async function drain(
  deps: ProcessingDeps,
  options: DrainOptions,
): Promise<ProcessingResult> {
  const end = performance.now() + options.budgetMs;
  const most = Math.ceil(options.budgetMs / LONG_TEXT_MS);
  const tried = new Set<Uuid>();
  let processed = 0;
  const isOver = () =>
    performance.now() >= end ||
    options.signal?.aborted === true ||
    tried.size >= deps.settings.materializationQueueSize;
  const work = async (): Promise<void> => {
    for (let group = FIRST_GROUP; !isOver(); group = GROUP) {
      const jobs = await claimFresh(deps, options, Math.min(group, most), tried);
      if (jobs.length === 0) return;
      const done = await runHeld(deps, jobs, options.signal);
      processed += done;
    }
  };
  // The model works for one group while the other is written.
  for (const lane of await Promise.allSettled([work(), work()])) {
    if (lane.status === "rejected") throw lane.reason;
  }
  return { processed, ...(await deps.store.countJobs(options.owner)) };
}

/** Jobs that this pass has not tried. */
async function claimFresh(
  { store }: ProcessingDeps,
  { owner, isDueOnly }: DrainOptions,
  group: number,
  tried: Set<Uuid>,
): Promise<readonly MaterializationJob[]> {
  const jobs = await store.claimJobs(owner, group, isDueOnly);
  const again = jobs.filter(({ event }) => tried.has(event.id)).map(({ event }) => event.id);
  if (again.length > 0) await store.releaseJobs(again);
  const fresh = jobs.filter(({ event }) => !tried.has(event.id));
  for (const { event } of fresh) tried.add(event.id);
  return fresh;
}

async function runHeld(
  deps: ProcessingDeps,
  jobs: readonly MaterializationJob[],
  signal: AbortSignal | undefined,
): Promise<number> {
  const ids = jobs.map(({ event }) => event.id);
  try {
    return await whileHeld(
      () => deps.store.renewJobs(ids),
      () => runGroup(deps, jobs, signal),
    );
  } catch (error) {
    if (signal?.aborted !== true) throw error;
    await deps.store.releaseJobs(ids);
    return 0;
  }
}

/** @returns how many are complete now @throws the abort reason before anything is written */
async function runGroup(
  deps: ProcessingDeps,
  jobs: readonly MaterializationJob[],
  signal: AbortSignal | undefined,
): Promise<number> {
  const items = await untilAborted(
    Promise.all(
      jobs.map(async (job): Promise<Materialization> => {
        const { event, plannedNode, unindexed = [], generation } = job;
        const node = plannedNode ?? planRawNote(event, deps.settings);
        const embedding = await embed(deps, node);
        const failure = embedding.failure ?? (await indexAgain(deps, unindexed));
        const at = deps.clock.now();
        return { eventId: event.id, node, ...embedding, failure, at, generation };
      }),
    ),
    signal,
  );
  try {
    await deps.store.materialize(items);
  } catch {
    // One bad item must not block the others: each is tried alone.
    return runAlone(deps, items);
  }
  await embedParts(
    deps,
    items.map(({ node }) => node),
  );
  return countComplete(items);
}

/** Restores lost index entries. @returns why that failed */
async function indexAgain(
  deps: ProcessingDeps,
  nodes: readonly MemoryNode[],
): Promise<string | undefined> {
  try {
    for (const node of nodes) {
      await deps.store.addNodes([
        { node, vector: await vectorOf(deps, node), at: deps.clock.now() },
      ]);
    }
    return undefined;
  } catch (error) {
    return reasonCode(error);
  }
}

async function runAlone(deps: ProcessingDeps, items: readonly Materialization[]): Promise<number> {
  let complete = 0;
  for (const item of items) {
    try {
      await deps.store.materialize([item]);
      complete += countComplete([item]);
    } catch (error) {
      const { eventId, generation } = item;
      await deps.store.failJobs([eventId], reasonCode(error), deps.clock.now(), generation);
    }
  }
  return complete;
}

function countComplete(items: readonly Materialization[]): number {
  return items.filter(({ failure }) => failure === undefined).length;
}

export function processPending(
  deps: ProcessingDeps,
  input: ProcessPendingInput = {},
): Promise<ProcessingResult> {
  const budgetMs = parseOptionalNumber(input.budgetMs, "budget_ms", 0, Number.MAX_SAFE_INTEGER);
  return drain(unhurried(deps), {
    owner: input.userId === undefined ? ALL_OWNERS : parseUserId(input.userId),
    budgetMs: budgetMs ?? 1000,
  });
}

/** Indexes an owner's new pending work before a question; failed work waits. */
export async function drainBefore(
  deps: ProcessingDeps,
  userId: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    const { pending, failed } = await deps.store.countJobs(userId);
    if (pending === failed) return;
    const budgetMs = deps.settings.materializationBudgetMs;
    const end = performance.now() + budgetMs;
    let left = await drain(deps, { owner: userId, budgetMs, isDueOnly: true, signal });
    // Another job or process holds the rest.
    while (left.pending > left.failed && performance.now() < end && signal?.aborted !== true) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      left = { ...left, ...(await deps.store.countJobs(userId)) };
    }
  } catch {
    deps.warn("retrieve: pending work could not be processed");
  }
}
