import type { Config } from "../config/schema.ts";
import type { MemoryEngine } from "../engine/memory-engine.ts";
import { methodsByTurn } from "./engine-methods.ts";
import { type OpenedEngine, type OpenOptions, openWithModel } from "./open-engine.ts";

/**
 * Like `openEngine`, for a process that runs for long: when another process has given the pack another model, the engine is opened
 * again with that one, after the first retrieval that could not compare vectors. Calls wait meanwhile.
 * @throws SvcError as `openEngine`
 */
export async function openFollowing(
  config: Config,
  options: Omit<OpenOptions, "embedder"> = {},
): Promise<MemoryEngine> {
  const open = () => openWithModel(config, { ...options, createIfMissing: false });
  const first = await openWithModel(config, options);
  let current: Promise<OpenedEngine> = Promise.resolve(first);
  let isClosing = false;
  let isLooking = false;

  /** The engine; opened again if that failed the last time. */
  const engine = async (): Promise<MemoryEngine> => {
    current = current.catch(open);
    return (await current).engine;
  };
  const renewed = async (old: OpenedEngine): Promise<OpenedEngine> => {
    // The files of an encrypted pack are open once in a process.
    await old.engine.close();
    return await open();
  };
  const follow = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const old = await current;
      const isOutdated = await old.isOutdated();
      if (isOutdated && !isClosing) current = renewed(old);
    } catch {
      // Locked, closed or damaged: the next retrieval looks again.
    } finally {
      isLooking = false;
    }
  };

  return {
    ...methodsByTurn(first.engine, async () => ({ engine: await engine(), end: () => {} })),
    retrieve: async (input) => {
      const result = await (await engine()).retrieve(input);
      if (result.metadata.embeddingMismatch) await follow();
      return result;
    },
    close: async () => {
      isClosing = true;
      await (await engine()).close();
    },
  };
}
