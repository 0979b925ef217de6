/** The public names of `svc-client/mastra`: a processor for agents of Mastra. `docs/frameworks.md` shows its use. */
import { type CallParams, turnOf, withContext } from "./ai-sdk/turn.ts";
import { isObject, type Memory } from "./memory.ts";
import type { TurnOptions } from "./turn-options.ts";
import { type Turn, turnsOf } from "./turns.ts";

export type { Memory };
export type MemoryProcessorOptions = TurnOptions;

/** What is common to the steps of a call, for this processor. */
type State = Record<string, unknown>;
type Context = { get(key: string): unknown };

/**
 * Gives an agent the memories of one owner, as one of its input and of its output processors: before a call of the model it puts
 * those that answer what the user said last in front of it, in what the model gets and not in the messages of the agent; after
 * the last one it stores what the user and the agent said. A thread of Mastra's own memory is a conversation of its own.
 * @throws SvcError invalid_argument
 */
export function memoryProcessor(options: MemoryProcessorOptions) {
  const { userId, sessionId, contextOf, store } = turnsOf(options, "mastra");
  const turns = new WeakMap<State, Turn | undefined>();
  const objects = new WeakSet<State>();
  return {
    id: "svc-memory",
    async processInputStep(args: { state: State; structuredOutput?: unknown }): Promise<undefined> {
      if (args.structuredOutput) objects.add(args.state);
    },
    async processLLMRequest<P>(args: {
      prompt: P;
      state: State;
      requestContext?: Context;
      abortSignal?: AbortSignal;
    }): Promise<{ prompt: P }> {
      // SAFETY: Mastra gives the prompt that the AI SDK gives.
      const prompt = args.prompt as unknown as CallParams["prompt"];
      const thread = threadOf(args.requestContext) ?? sessionId;
      const turn = await turnOf({ prompt }, userId, thread);
      turns.set(args.state, turn);
      const context = turn === undefined ? "" : await contextOf(turn, args.abortSignal);
      // SAFETY: the same form.
      return { prompt: context === "" ? args.prompt : (withContext(prompt, context) as P) };
    },
    async processOutputResult<M>(args: {
      messages: M;
      state: State;
      result: { text: string; finishReason: string; steps?: readonly { text?: string }[] };
    }): Promise<M> {
      const { state, result } = args;
      // What is said before a tool is called is no answer.
      const answer = result.steps?.at(-1)?.text ?? result.text;
      const answered = { answer, reason: result.finishReason, isObject: objects.has(state) };
      await store(turns.get(state), answered);
      return args.messages;
    },
  };
}

function threadOf(context: Context | undefined): string | undefined {
  const known = context?.get("MastraMemory");
  const thread = isObject(known) ? known["thread"] : undefined;
  return isObject(thread) && typeof thread["id"] === "string" ? thread["id"] : undefined;
}
