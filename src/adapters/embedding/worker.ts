/**
 * The thread in which the model runs: a run blocks its thread for milliseconds, which the main thread must not feel.
 * Requests are posted as they arrive and taken one at a time, so that the model never waits while one is queued.
 */
import { parentPort } from "node:worker_threads";
import { useCacheDir } from "../native/cache-dir.ts";
import { type Inference, loadInference } from "./inference.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import { modelRoot } from "./model-files.ts";

type Start = Extract<ToWorker, { kind: "start" }>;

const queue: Extract<ToWorker, { kind: "embed" }>[] = [];
let start: Start | undefined;
let inference: Inference | undefined;
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
    parentPort?.postMessage(await embed(next.id, next.text));
  }
  isRunning = false;
}

async function embed(id: number, text: string): Promise<FromWorker> {
  try {
    inference ??= await load();
  } catch (error) {
    // No text has been looked at yet, so the whole message may be told.
    const message = error instanceof Error ? error.message : String(error);
    return { kind: "failed", id, reason: `the model cannot be loaded: ${message}` };
  }
  try {
    return { kind: "vector", id, vector: await inference.embed(text) };
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    return { kind: "failed", id, reason: `the model failed on a text (${name})` };
  }
}

async function load(): Promise<Inference> {
  if (start === undefined) throw new Error("the worker was not started");
  useCacheDir(start.cacheDir);
  const root = start.modelRoot ?? modelRoot();
  return loadInference({ root, threads: start.threads, maxTokens: start.maxTokens });
}
