import { SvcError } from "../../src/domain/errors.ts";
import type { MemoryEngine } from "../../src/engine/memory-engine.ts";

/** An engine of which a test gives the methods it needs; every other one fails. */
export function fakeEngine(methods: Partial<MemoryEngine> = {}): MemoryEngine {
  const own = { close: () => Promise.resolve(), ...methods };
  const unused = (): Promise<never> =>
    Promise.reject(new SvcError("internal", "this test did not expect the call"));
  // SAFETY: whatever is not its own fails when it is called. A promise of an engine is no engine, hence no `then`.
  return new Proxy(own, {
    get: (target, name) => Reflect.get(target, name) ?? (name === "then" ? undefined : unused),
  }) as MemoryEngine;
}
