import { parseOptionalInteger } from "../../domain/arguments.ts";
import { invalid } from "../../domain/errors.ts";
import { ALL_OWNERS } from "../../domain/owner.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import { untilAborted } from "../../lib/pause.ts";
import type {
  KeyedNode,
  NodeVector,
  RebuildPlan,
  SearchIndex,
} from "../../ports/store/search-index.ts";
import type { Store } from "../../ports/store/store.ts";
import type { WorkQueue } from "../../ports/store/work.ts";
import type { EngineDeps } from "../deps.ts";
import { drain, vectorOf } from "../write/materialize.ts";
import type { RebuildInput, RebuildResult } from "./api.ts";

const DEFAULT_BATCH_SIZE = 256;
/** Texts embedded between two checks of the signal. */
const EMBEDDED_AT_ONCE = 32;

type Roles = Pick<Store, "rebuild"> & WorkQueue & SearchIndex;

type Run = {
  readonly batchSize: number;
  /** Nodes with entries. */
  readonly total: number;
  readonly signal: AbortSignal | undefined;
  readonly report: NonNullable<RebuildInput["onProgress"]>;
};

/**
 * Rebuilds vectors and word entries from the graph where needed; if aborted, the next call continues.
 * @throws SvcError storage_busy; embedding_failed
 */
export async function rebuildIndexes(
  deps: EngineDeps<Roles>,
  input: RebuildInput,
): Promise<RebuildResult> {
  const batchSize = parseOptionalInteger(input.batchSize, "batch_size", 1) ?? DEFAULT_BATCH_SIZE;
  if (input.all !== undefined && typeof input.all !== "boolean") {
    throw invalid("all", "must be true or false");
  }
  const { signal, onProgress = () => {} } = input;
  signal?.throwIfAborted();
  const { rebuild } = deps.store;
  const plan = await rebuild.begin(input.all ?? false);
  let outcome: "finished" | "unfinished" = "unfinished";
  let embedded: number;
  try {
    const { total, blank } = await rebuild.count();
    const run: Run = { batchSize, total: total - blank, signal, report: onProgress };
    embedded = await renewVectors(deps, plan, run);
    await rewriteTexts(deps, run);
    outcome = "finished";
  } finally {
    await rebuild.end(outcome);
  }
  // Texts that the previous model could not embed may succeed now.
  await drain(deps, { owner: ALL_OWNERS, budgetMs: Number.POSITIVE_INFINITY, signal });
  const { total, blank } = await rebuild.count();
  return {
    nodesIndexed: total - blank,
    nodesSkipped: blank,
    totalActive: total,
    nodesEmbedded: embedded,
  };
}

async function renewVectors(deps: EngineDeps<Roles>, plan: RebuildPlan, run: Run): Promise<number> {
  const { rebuild } = deps.store;
  let embedded = 0;
  do {
    // The next pass finds nodes that arrived meanwhile.
    for (let after = 0, done = 0, hasMore = true; hasMore; ) {
      run.signal?.throwIfAborted();
      const stale = await rebuild.stale(plan, after, run.batchSize);
      for (let from = 0; from < stale.nodes.length; from += EMBEDDED_AT_ONCE) {
        run.signal?.throwIfAborted();
        const some = stale.nodes.slice(from, from + EMBEDDED_AT_ONCE);
        const vectors = Promise.all(some.map((node) => embed(deps, node)));
        // A hanging model must not prevent stopping.
        await rebuild.put(plan, await untilAborted(vectors, run.signal));
      }
      embedded += stale.nodes.length;
      done += stale.scanned;
      ({ scannedTo: after, hasMore } = stale);
      run.report({ phase: "vectors", done, total: Math.max(run.total, done) });
    }
  } while (!(await rebuild.swap(plan)));
  return embedded;
}

async function embed(deps: EngineDeps<Roles>, { key, node }: KeyedNode): Promise<NodeVector> {
  return { key, vector: await vectorOf(deps, node), contentHash: sha256Hex(node.content) };
}

async function rewriteTexts(deps: EngineDeps<Roles>, run: Run): Promise<void> {
  for (let done = 0, hasMore = true; hasMore; ) {
    run.signal?.throwIfAborted();
    const step = await deps.store.rebuild.rewriteTexts(run.batchSize, run.signal);
    done += step.written;
    hasMore = step.hasMore;
    run.report({ phase: "texts", done, total: Math.max(run.total, done) });
  }
}
