/** Calls to a thread whose work is here a few lines, so that it can die in the middle of it. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { createWorkerCalls } from "../../../src/adapters/native/worker-calls.ts";

type Call = { readonly kind: "shout"; readonly text: string };
type Answer = { readonly kind: "shouted"; readonly id: number; readonly text: string };

function shouter() {
  const workers: Worker[] = [];
  const calls = createWorkerCalls<Call, Answer>({
    spawn: () => {
      const worker = new Worker(join(import.meta.dir, "shouting-worker.ts"));
      workers.push(worker);
      return worker;
    },
    start: () => ({ kind: "start", cacheDir: "" }),
    failed: (reason) => new Error(reason),
  });
  const shout = async (text: string) => (await calls.call({ kind: "shout", text })).text;
  return { calls, workers, shout };
}

const endingsOf = async (calls: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(calls)).map((one) =>
    one.status === "rejected" ? String(one.reason.message) : one.value,
  );

test("calls are answered one at a time, in their order", async () => {
  const { calls, shout } = shouter();
  expect(await endingsOf([shout("wait"), shout("a"), shout("b")])).toEqual(["WAIT", "A", "B"]);
  await calls.end(new Error("over"));
});

test("a call that fails is the only one that does", async () => {
  const { calls, shout } = shouter();
  expect(await endingsOf([shout("fail"), shout("a")])).toEqual([
    "the model failed on a word (RangeError)",
    "A",
  ]);
  await calls.end(new Error("over"));
});

test("calls under way are rejected when the thread dies, and the next one begins another", async () => {
  const { calls, workers, shout } = shouter();
  expect(await shout("a")).toBe("A");
  const reason = "the model's thread ended unexpectedly";
  expect(await endingsOf([shout("die"), shout("b")])).toEqual([reason, reason]);
  expect(await shout("c")).toBe("C");
  expect(workers).toHaveLength(2);
  await calls.end(new Error("over"));
});

test("the end rejects what is pending at once, and waits for the call that runs", async () => {
  const { calls, workers, shout } = shouter();
  await shout("a");
  const ended = new Promise((resolve) => workers[0]?.once("exit", resolve));
  const pending = endingsOf([shout("wait"), shout("b")]);
  let isOver = false;
  const over = calls.end(new Error("over")).then(() => {
    isOver = true;
  });
  const first = await Promise.race([pending, ended]);
  expect(first).toEqual(["over", "over"]);
  expect(isOver).toBeFalse();
  await over;
  await ended;
  expect(await shout("c")).toBe("C");
  expect(workers).toHaveLength(2);
  await calls.end(new Error("over"));
});

test("the end of a thread that has died comes at once", async () => {
  const { calls, shout } = shouter();
  const dying = endingsOf([shout("die")]);
  await calls.end(new Error("over"));
  expect(await dying).toEqual(["over"]);
});
