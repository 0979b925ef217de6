import type { MemoryEngine } from "../../engine/memory-engine.ts";
import type { RebuildInput, RebuildResult } from "../../engine/organize/api.ts";
import type { CliContext } from "./context.ts";
import { packWord } from "./default-pack.ts";
import { Interrupted } from "./signals.ts";

const LABELS = { vectors: "embedding", texts: "indexing texts" } as const;

/** How to rebuild a pack. */
export type RebuildRun = Pick<RebuildInput, "all" | "batchSize"> & {
  /** The pack as typed. */
  readonly path: string;
  readonly stop: AbortSignal;
};

/** Rebuilds the pack of an engine and shows progress. @throws Interrupted saying how to continue */
export async function runRebuild(
  { output }: CliContext,
  engine: MemoryEngine,
  { path, stop, all, batchSize }: RebuildRun,
): Promise<RebuildResult> {
  const bar = await output.progressBar("rebuilding");
  try {
    return await engine.rebuildIndexes({
      all,
      batchSize,
      signal: stop,
      onProgress: ({ phase, done, total }) => bar.show(done, total, LABELS[phase]),
    });
  } catch (error) {
    if (!stop.aborted) throw error;
    throw new Interrupted(
      `Interrupted; what is done is kept. Continue with: svc rebuild ${packWord(path)}`,
    );
  } finally {
    bar.stop();
  }
}
