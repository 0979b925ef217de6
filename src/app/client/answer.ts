import { SvcError } from "../../domain/errors.ts";
import type { MemoryEngine as EngineFacade } from "../../engine/memory-engine.ts";
import { MemoryEngine } from "../memory-engine.ts";
import { type Answer, type Call, type Step, toFailure } from "./messages.ts";

/** Values of a walk per thread crossing: a crossing costs about as much as a hundred of them. */
const STEP_VALUES = 100;

let engine: EngineFacade | undefined;

const walks = new Map<number, AsyncIterator<unknown>>();
let nextWalk = 0;

/** Executes the client's requests; never rejects. */
export async function answer(call: Call): Promise<Answer> {
  try {
    return { kind: "value", value: await perform(call) };
  } catch (error) {
    if (call.kind === "open") endThread();
    return { kind: "failure", failure: toFailure(error) };
  }
}

async function perform(call: Call): Promise<unknown> {
  switch (call.kind) {
    case "open":
      engine = await MemoryEngine.create(call.settings);
      return Object.keys(engine);
    case "use":
      return await use(call.method, call.args);
    case "iterate":
      return beginWalk(use(call.method, call.args));
    case "advance":
      return await advance(call.walk);
    case "release":
      await walks.get(call.walk)?.return?.();
      walks.delete(call.walk);
      return undefined;
    case "close":
      try {
        return await engine?.close();
      } finally {
        endThread();
      }
  }
}

function use(name: string, args: readonly unknown[]): unknown {
  const method: unknown = new Map<string, unknown>(Object.entries(engine ?? {})).get(name);
  if (typeof method !== "function") {
    throw new SvcError("internal", `the engine has no method ${name}`);
  }
  return method(...args);
}

function beginWalk(walk: unknown): number {
  if (typeof walk !== "object" || walk === null || !(Symbol.asyncIterator in walk)) {
    throw new SvcError("internal", "the method of the engine gives no asynchronous iterable");
  }
  // SAFETY: it has the member that makes an asynchronous iterable.
  walks.set(nextWalk, (walk as AsyncIterable<unknown>)[Symbol.asyncIterator]());
  return nextWalk++;
}

async function advance(number: number): Promise<Step> {
  const walk = walks.get(number);
  const values: unknown[] = [];
  try {
    while (walk !== undefined && values.length < STEP_VALUES) {
      const { value, done } = await walk.next();
      if (done === true) break;
      values.push(value);
    }
  } catch (error) {
    walks.delete(number);
    throw error;
  }
  const isDone = values.length < STEP_VALUES;
  if (isDone) walks.delete(number);
  return { values, isDone };
}

/** After the answer has been sent. */
function endThread(): void {
  setTimeout(() => process.exit(0));
}
