/**
 * The thread in which a model reads pairs of texts: a run blocks its thread for milliseconds, which the main thread must
 * not feel. Requests are taken one at a time, so that a pair's value never depends on its neighbours.
 */
import { parentPort } from "node:worker_threads";
import { useCacheDir } from "../native/cache-dir.ts";
import type { FromWorker, Judge, Start, ToWorker } from "./messages.ts";
import { loadPairInference, type PairInference } from "./pair-inference.ts";

const queue: Judge[] = [];
let start: Start | undefined;
let inference: PairInference | undefined;
let isRunning = false;

parentPort?.on("message", (message: ToWorker) => {
  if (message.kind === "start") {
    start = message;
    return;
  }
  queue.push(message);
  if (!isRunning) void run();
});

async function run(): Promise<void> {
  isRunning = true;
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    parentPort?.postMessage(await judge(next));
  }
  isRunning = false;
}

async function judge({ id, first, second }: Judge): Promise<FromWorker> {
  try {
    inference ??= await load();
  } catch (error) {
    // No text has been looked at yet, so the whole message may be told.
    const message = error instanceof Error ? error.message : String(error);
    return { kind: "failed", id, reason: `the model cannot be loaded: ${message}` };
  }
  try {
    const values = await inference.judge(first, second);
    return { kind: "judged", id, values, revision: inference.revision };
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    return { kind: "failed", id, reason: `the model failed on a pair of texts (${name})` };
  }
}

async function load(): Promise<PairInference> {
  if (start === undefined) throw new Error("the worker was not started");
  useCacheDir(start.cacheDir);
  return loadPairInference(start);
}
