import type { LanguageModelMiddleware } from "ai";
import type { TurnOptions } from "../turn-options.ts";
import { MAX_CHARS, turnsOf } from "../turns.ts";
import { type CallParams, turnOf, withContext } from "./turn.ts";

export type MemoryMiddlewareOptions = TurnOptions;

type Result = Awaited<
  ReturnType<Parameters<NonNullable<LanguageModelMiddleware["wrapGenerate"]>>[0]["doGenerate"]>
>;
type FinishReason = Result["finishReason"]["unified"];

/**
 * Gives a language model the memories of one owner: before a call it puts those that answer what the user said last in front of
 * it, within a budget of tokens; after it, it stores what the user and the model said, each as a note. A call that fails or is
 * broken off stores nothing; a repeated call and the steps of one call store a turn once. A memory that fails or is late is
 * reported, and the model is called without it.
 * @throws SvcError invalid_argument
 */
export function memoryMiddleware(options: MemoryMiddlewareOptions): LanguageModelMiddleware & {
  readonly specificationVersion: "v4";
} {
  const { userId, sessionId, contextOf, store } = turnsOf(options, "ai-sdk");
  const turn = (params: CallParams) => turnOf(params, userId, sessionId);
  return {
    specificationVersion: "v4",
    transformParams: async ({ params }) => {
      const said = await turn(params);
      const context = said === undefined ? "" : await contextOf(said, params.abortSignal);
      if (context === "") return params;
      return { ...params, prompt: withContext(params.prompt, context) };
    },
    wrapGenerate: async ({ doGenerate, params }) => {
      const result = await doGenerate();
      const answer = result.content.map((part) => (part.type === "text" ? part.text : "")).join("");
      await store(await turn(params), {
        answer,
        reason: result.finishReason.unified,
        isObject: isObject(params),
      });
      return result;
    },
    wrapStream: async ({ doStream, params }) => {
      const { stream, ...rest } = await doStream();
      const { maxChars = MAX_CHARS } = options;
      let answer = "";
      let reason: FinishReason = "error";
      let hasFailed = false;
      const stored = new TransformStream<StreamPart, StreamPart>({
        transform: (part, controller) => {
          // One unit more than is kept, so that a longer answer is known to be cut.
          if (part.type === "text-delta" && answer.length <= maxChars) answer += part.delta;
          // A provider may tell a failure and finish as if there was none.
          if (part.type === "error") hasFailed = true;
          if (part.type === "finish" && !hasFailed) reason = part.finishReason.unified;
          controller.enqueue(part);
        },
        flush: async () =>
          store(await turn(params), { answer, reason, isObject: isObject(params) }),
      });
      return { ...rest, stream: stream.pipeThrough(stored) };
    },
  };
}

type StreamPart =
  Awaited<
    ReturnType<Parameters<NonNullable<LanguageModelMiddleware["wrapStream"]>>[0]["doStream"]>
  >["stream"] extends ReadableStream<infer Part>
    ? Part
    : never;

/** Whether the answer is an object for a program. */
function isObject({ responseFormat }: CallParams): boolean {
  return responseFormat?.type === "json";
}
