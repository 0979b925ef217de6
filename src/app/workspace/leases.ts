import { SvcError } from "../../domain/errors.ts";
import type { Namespace } from "../../domain/owner.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { methodsByTurn, type Turn } from "../engine-methods.ts";

/** What only the workspace does with an engine. */
type OfWorkspace = "close" | "lock" | "unlock";

/**
 * The memory of one namespace, until it is released: then every method rejects with workspace_closed. `await using` releases it.
 */
export type NamespaceLease = Omit<MemoryEngine, OfWorkspace> &
  AsyncDisposable & {
    readonly namespace: Namespace;
    /** Waits for running calls, then gives the engine back. A walk that was begun counts as running until it ends. Idempotent. */
    release(): Promise<void>;
  };

/**
 * @param use called at the beginning of each call; what it returns at the end
 * @param giveBack called once, when nothing of the lease is running any more
 */
export function createLease(
  engine: MemoryEngine,
  namespace: Namespace,
  use: () => () => void,
  giveBack: () => void,
): NamespaceLease {
  const running = new Set<Promise<void>>();
  let released: Promise<void> | undefined;
  const begin = (): Turn => {
    if (released !== undefined) {
      const message = `the namespace ${JSON.stringify(namespace.name)} was released; ask the workspace for it again`;
      throw new SvcError("workspace_closed", message);
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    running.add(promise);
    const used = use();
    const end = (): void => {
      used();
      running.delete(promise);
      resolve();
    };
    return { engine, end };
  };
  const { close: _close, lock: _lock, unlock: _unlock, ...offered } = methodsByTurn(engine, begin);
  const drain = async (): Promise<void> => {
    while (running.size > 0) await Promise.all(running);
    giveBack();
  };
  const release = (): Promise<void> => {
    released ??= drain();
    return released;
  };
  return {
    ...offered,
    namespace,
    release,
    [Symbol.asyncDispose]: release,
  };
}
