import type { LanguageModelMiddleware } from "ai";
import {
  isVisible,
  LIMITS,
  parseOptionalInteger,
  parseUserId,
} from "../../../../src/domain/arguments.ts";
import type { Scope } from "../../../../src/domain/enums.ts";
import { type Memory, type MemoryQuestion, TIMER_MAX_MS } from "../memory.ts";
import { isQuestion } from "../question.ts";
import { type OnMemoryFailure, warnOf, within } from "./failure.ts";
import { requestIdOf } from "./request-id.ts";
import { type CallParams, cut, type Turn, turnOf, withContext } from "./turn.ts";

export type MemoryMiddlewareOptions = Pick<MemoryQuestion, "minScore"> & {
  readonly memory: Memory;
  /** The owner of all that is read and stored; no prompt and no model can name another one. */
  readonly userId: string;
  /**
   * The conversation of calls that name none in `providerOptions.svc.sessionId`. Default: a new one for each middleware, with a
   * random UUID.
   */
  readonly sessionId?: string | undefined;
  /** Tokens of memories in a prompt, at most. 0: none are read. Default 1,000. */
  readonly tokenBudget?: number | undefined;
  /** Where memories are read and turns are stored. Default: read everywhere, stored as personal. */
  readonly scope?: Scope | undefined;
  /** Whose turns are stored. Default `both`. */
  readonly store?: "both" | "user" | "nothing" | undefined;
  /** UTF-16 units of a question and of a stored turn, at most 131,072; what is longer is cut. Default 20,000. */
  readonly maxChars?: number | undefined;
  /** Milliseconds that a call may wait for the memory, before the model and after it. Default 5,000. */
  readonly timeoutMs?: number | undefined;
  /** Default: a process warning of type `svc`. */
  readonly onFailure?: OnMemoryFailure | undefined;
};

/** Contexts that are kept for further steps of a call. */
const KEPT = 64;

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
  const userId = parseUserId(options.userId);
  parseOptionalInteger(options.tokenBudget, "tokenBudget", 0);
  parseOptionalInteger(options.maxChars, "maxChars", 1, LIMITS.queryMaxChars);
  parseOptionalInteger(options.timeoutMs, "timeoutMs", 1, TIMER_MAX_MS);
  const sessionId = options.sessionId ?? crypto.randomUUID();
  const contextOf = contextReader({ ...options, userId });
  const store = turnStore({ ...options, userId });
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
      await store(await turn(params), { params, answer, reason: result.finishReason.unified });
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
        flush: async () => store(await turn(params), { params, answer, reason }),
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

const MAX_CHARS = 20_000;
const TIMEOUT_MS = 5000;

/** @returns memories for a turn, as text for a prompt; empty if there are none that answer it, or they cannot be read */
function contextReader({
  memory,
  userId,
  scope,
  minScore,
  tokenBudget = 1000,
  maxChars = MAX_CHARS,
  timeoutMs = TIMEOUT_MS,
  onFailure = warnOf,
}: MemoryMiddlewareOptions) {
  /** By the id of the turn, oldest first: all steps of a call see the same memories, and its prompt keeps its start. */
  const kept = new Map<string, string>();
  const read = async (text: string, aborted: AbortSignal | undefined): Promise<string> => {
    const late = AbortSignal.timeout(timeoutMs);
    const { results, bundle } = await memory.retrieve({
      query: cut(text, maxChars),
      userId,
      scope,
      minScore,
      tokenBudget,
      client: "ai-sdk",
      signal: aborted === undefined ? late : AbortSignal.any([aborted, late]),
    });
    // What is merely the nearest there is would distract.
    return results.some(({ strength }) => strength === "strong") ? bundle.renderedContext : "";
  };
  return async ({ id, text, isFresh }: Turn, aborted: AbortSignal | undefined): Promise<string> => {
    if (tokenBudget === 0) return "";
    const known = isFresh ? undefined : kept.get(id);
    if (known !== undefined) return known;
    try {
      const context = await within(timeoutMs, read(text, aborted));
      kept.delete(id);
      kept.set(id, context);
      const [oldest] = kept.keys();
      if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
      return context;
    } catch (error) {
      if (aborted?.aborted !== true) onFailure({ step: "retrieve", error });
      return "";
    }
  };
}

type Answered = {
  readonly params: CallParams;
  readonly answer: string;
  readonly reason: FinishReason;
};

/** Reasons after which nobody knows what was said. */
const BROKEN: ReadonlySet<FinishReason> = new Set(["error", "interrupted"]);
/** Reasons after which an answer is not what the model says to the user. */
const NO_ANSWER: ReadonlySet<FinishReason> = new Set(["tool-calls", "content-filter"]);

function turnStore({
  memory,
  userId,
  scope,
  store = "both",
  maxChars = MAX_CHARS,
  timeoutMs = TIMEOUT_MS,
  onFailure = warnOf,
}: MemoryMiddlewareOptions) {
  const keep = async (role: "user" | "assistant", text: string, turn: Turn): Promise<void> => {
    const content = cut(text, maxChars);
    const requestId = role === "user" ? turn.id : await requestIdOf(ANSWER, turn.id, content);
    const { sessionId } = turn;
    // In the log with the rest of the conversation, and no memory.
    const kind =
      role === "user" && isQuestion(content) ? ({ nodeType: "event", ttlDays: 0 } as const) : {};
    await memory.storeWithReceipt({ content, userId, sessionId, role, requestId, scope, ...kind });
  };
  return async (turn: Turn | undefined, { params, answer, reason }: Answered): Promise<void> => {
    if (turn === undefined || store === "nothing" || BROKEN.has(reason)) return;
    // An object for a program is nothing that was said.
    const isSaid = !NO_ANSWER.has(reason) && params.responseFormat?.type !== "json";
    const work = async (): Promise<void> => {
      await keep("user", turn.text, turn);
      if (store === "both" && isSaid && isVisible(answer)) await keep("assistant", answer, turn);
    };
    try {
      await within(timeoutMs, work());
    } catch (error) {
      onFailure({ step: "store", error });
    }
  };
}

const ANSWER = "svc:ai-sdk:answer:v1";
