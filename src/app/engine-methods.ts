import type { MemoryEngine } from "../engine/memory-engine.ts";

/** The engine of one call. */
export type Turn = {
  readonly engine: MemoryEngine;
  /** Called once, when the call has ended; a walk ends with its last memory, or when it is left. */
  end(): void;
};

/**
 * Every method of an engine, by its name, on the engine that `turn` gives for the call.
 * @param shape an engine with the same methods
 */
export function methodsByTurn(shape: MemoryEngine, turn: () => Turn | Promise<Turn>): MemoryEngine {
  const passing =
    (name: string) =>
    async (...args: readonly unknown[]): Promise<unknown> => {
      const { engine, end } = await turn();
      try {
        return await Reflect.get(engine, name)(...args);
      } finally {
        end();
      }
    };
  const passed = Object.keys(shape).map((name) => [name, passing(name)] as const);
  return {
    // SAFETY: each method by its name, with its own arguments and result; the only one that returns no promise is below.
    ...(Object.fromEntries(passed) as unknown as MemoryEngine),
    iterNodes: async function* (query) {
      const { engine, end } = await turn();
      try {
        yield* engine.iterNodes(query);
      } finally {
        end();
      }
    },
  };
}
