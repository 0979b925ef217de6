import { expect, test } from "bun:test";
import { sharedPasses } from "../../src/lib/pause.ts";

test("calls that come while a pass runs share the next one, and none gets a pass that began before it", async () => {
  const gates: PromiseWithResolvers<void>[] = [];
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const call = sharedPasses(async () => {
    const gate = Promise.withResolvers<void>();
    begun[gates.length]?.resolve();
    gates.push(gate);
    await gate.promise;
    return true;
  });
  const first = call(60_000);
  await begun[0]?.promise;
  const others = Array.from({ length: 20 }, () => call(60_000));
  gates[0]?.resolve();
  expect(await first).toBe(true);
  await begun[1]?.promise;
  gates[1]?.resolve();
  expect(await Promise.all(others)).toEqual(others.map(() => true));
  expect(gates).toHaveLength(2);
});

test("a call waits no longer than it says for its pass to begin, and a pass that fails fails its calls alone", async () => {
  let passes = 0;
  const begun = Promise.withResolvers<void>();
  const call = sharedPasses(async () => {
    passes += 1;
    if (passes === 1) throw new Error("full");
    begun.resolve();
    return await new Promise<boolean>(() => {});
  });
  await expect(call(60_000)).rejects.toThrow("full");
  void call(60_000);
  await begun.promise;
  expect(await call(20)).toBe(false);
});
