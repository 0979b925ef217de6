import { parentPort } from "node:worker_threads";
import { useCacheDir } from "./cache-dir.ts";
import type { EndMessage, FailedCall, IdleMessage } from "./worker-calls.ts";

type StartMessage = { readonly kind: "start"; readonly cacheDir: string };

export type WorkerAnswers<Start, Call, Model, Answer> = {
  /** Called by the first call, and again by the next one if it rejected. */
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
  let isEnding = false;

  const loadOnce = async (): Promise<Model> => {
    if (start === undefined) throw new Error("the worker was not started");
    useCacheDir(start.cacheDir);
    return await load(start);
  };

  const reply = async (call: Call): Promise<Answer | FailedCall> => {
    try {
      model ??= await loadOnce();
    } catch (error) {
      // No text has been read yet, so the whole message may be disclosed.
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
    if (isEnding) tellIdle();
  };

  parentPort?.on("message", (message: Start | Call | EndMessage) => {
    if (isOfKind<Start>(message, "start")) {
      start = message;
      return;
    }
    if (isOfKind<EndMessage>(message, "end")) {
      isEnding = true;
      queue.length = 0;
      if (!isRunning) tellIdle();
      return;
    }
    queue.push(message);
    if (!isRunning) void run();
  });
}

function tellIdle(): void {
  parentPort?.postMessage({ kind: "idle" } satisfies IdleMessage);
}

function isOfKind<Message extends { readonly kind: string }>(
  message: { readonly kind: string },
  kind: Message["kind"],
): message is Message {
  return message.kind === kind;
}
