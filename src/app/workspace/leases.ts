import type { Namespace } from "../../adapters/sqlite/workspace/registry.ts";
import { SvcError } from "../../domain/errors.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";

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

/** @param giveBack called once, when nothing of the lease is running any more */
export function createLease(
  engine: MemoryEngine,
  namespace: Namespace,
  giveBack: () => void,
): NamespaceLease {
  const running = new Set<Promise<void>>();
  let released: Promise<void> | undefined;
  const requireHeld = (): void => {
    if (released === undefined) return;
    const message = `the namespace ${JSON.stringify(namespace.name)} was released; ask the workspace for it again`;
    throw new SvcError("workspace_closed", message);
  };
  /** @returns counts the call out */
  const begin = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    running.add(promise);
    return () => {
      running.delete(promise);
      resolve();
    };
  };
  const passing =
    (name: string) =>
    async (...args: readonly unknown[]): Promise<unknown> => {
      requireHeld();
      const end = begin();
      try {
        return await Reflect.get(engine, name)(...args);
      } finally {
        end();
      }
    };
  const { close: _close, lock: _lock, unlock: _unlock, ...offered } = engine;
  const passed = Object.keys(offered).map((name) => [name, passing(name)] as const);
  const drain = async (): Promise<void> => {
    while (running.size > 0) await Promise.all(running);
    giveBack();
  };
  const release = (): Promise<void> => {
    released ??= drain();
    return released;
  };
  return {
    // SAFETY: each method of the engine by its name, with its own arguments and result; the one that returns no promise is below.
    ...(Object.fromEntries(passed) as unknown as Omit<MemoryEngine, OfWorkspace>),
    iterNodes: async function* (query) {
      requireHeld();
      const end = begin();
      try {
        yield* engine.iterNodes(query);
      } finally {
        end();
      }
    },
    namespace,
    release,
    [Symbol.asyncDispose]: release,
  };
}
