import { parentPort } from "node:worker_threads";
import { useCacheDir } from "./cache-dir.ts";
import type { FailedCall } from "./worker-calls.ts";

type StartMessage = { readonly kind: "start"; readonly cacheDir: string };

export type WorkerAnswers<Start, Call, Model, Answer> = {
  /** Called by the first call, and again by the next one when it rejects. */
  readonly load: (start: Start) => Promise<Model>;
  readonly answer: (model: Model, call: Call) => Promise<Answer>;
  /** What a call is about, in words: "a text". */
  readonly about: string;
};

/**
 * Answers, in a worker thread, the calls that `createWorkerCalls` makes: one at a time, in their order, so that no answer
 * depends on its neighbours.
 */
export function answerCalls<
  Start extends StartMessage,
  Call extends { readonly kind: string; readonly id: number },
  Model,
  Answer,
>({ load, answer, about }: WorkerAnswers<Start, Call, Model, Answer>): void {
  const queue: Call[] = [];
  let start: Start | undefined;
  let model: Model | undefined;
  let isRunning = false;

  const loadOnce = async (): Promise<Model> => {
    if (start === undefined) throw new Error("the worker was not started");
    useCacheDir(start.cacheDir);
    return await load(start);
  };

  const reply = async (call: Call): Promise<Answer | FailedCall> => {
    try {
      model ??= await loadOnce();
    } catch (error) {
      // No text has been looked at yet, so the whole message may be told.
      const message = error instanceof Error ? error.message : String(error);
      return { kind: "failed", id: call.id, reason: `the model cannot be loaded: ${message}` };
    }
    try {
      return await answer(model, call);
    } catch (error) {
      const name = error instanceof Error ? error.name : typeof error;
      return { kind: "failed", id: call.id, reason: `the model failed on ${about} (${name})` };
    }
  };

  const run = async (): Promise<void> => {
    isRunning = true;
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      parentPort?.postMessage(await reply(next));
    }
    isRunning = false;
  };

  parentPort?.on("message", (message: Start | Call) => {
    if (isStart<Start>(message)) {
      start = message;
      return;
    }
    queue.push(message);
    if (!isRunning) void run();
  });
}

function isStart<Start extends StartMessage>(message: { readonly kind: string }): message is Start {
  return message.kind === "start";
}
