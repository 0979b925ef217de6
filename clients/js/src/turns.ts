import {
  isVisible,
  LIMITS,
  parseOptionalInteger,
  parseUserId,
} from "../../../src/domain/arguments.ts";
import { warnOf, within } from "./ai-sdk/failure.ts";
import { requestIdOf } from "./ai-sdk/request-id.ts";
import { TIMER_MAX_MS } from "./memory.ts";
import { isQuestion } from "./question.ts";
import type { TurnOptions } from "./turn-options.ts";

/** Contexts that are kept for further steps of a call. */
const KEPT = 64;

/** What the user said last, and to whom. */
export type Turn = {
  readonly text: string;
  readonly sessionId: string;
  /** UUID; the same for a repeated call and for the further steps of one. */
  readonly id: string;
  /** Whether the model is called for the first time since the user spoke, and not after a tool. */
  readonly isFresh: boolean;
};

/**
 * Reads the memories for what a user said to a model, and stores what both said.
 * @param client the name of the adapter
 * @throws SvcError invalid_argument
 */
export function turnsOf(options: TurnOptions, client: string) {
  const userId = parseUserId(options.userId);
  parseOptionalInteger(options.tokenBudget, "tokenBudget", 0);
  parseOptionalInteger(options.maxChars, "maxChars", 1, LIMITS.queryMaxChars);
  parseOptionalInteger(options.timeoutMs, "timeoutMs", 1, TIMER_MAX_MS);
  return {
    userId,
    sessionId: options.sessionId ?? crypto.randomUUID(),
    contextOf: contextReader({ ...options, userId, client }),
    store: turnStore({ ...options, userId }),
  };
}

export const MAX_CHARS = 20_000;
const TIMEOUT_MS = 5000;

/** @returns memories for a turn, as text for a prompt; empty if there are none that answer it, or they cannot be read */
function contextReader({
  memory,
  client,
  userId,
  scope,
  minScore,
  tokenBudget = 1000,
  maxChars = MAX_CHARS,
  timeoutMs = TIMEOUT_MS,
  onFailure = warnOf,
}: TurnOptions & { readonly client: string }) {
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
      client,
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
  readonly answer: string;
  /** Why the model ended, in the words of the AI SDK. */
  readonly reason: string;
  /** Whether it is an object for a program, and nothing that was said. */
  readonly isObject: boolean;
};

/** Reasons after which nobody knows what was said. */
const BROKEN: ReadonlySet<string> = new Set(["error", "interrupted"]);
/** Reasons after which an answer is not what the model says to the user. */
const NO_ANSWER: ReadonlySet<string> = new Set(["tool-calls", "content-filter"]);

function turnStore({
  memory,
  userId,
  scope,
  store = "both",
  maxChars = MAX_CHARS,
  timeoutMs = TIMEOUT_MS,
  onFailure = warnOf,
}: TurnOptions) {
  const keep = async (role: "user" | "assistant", text: string, turn: Turn): Promise<void> => {
    const content = cut(text, maxChars);
    const requestId = role === "user" ? turn.id : await requestIdOf(ANSWER, turn.id, content);
    const { sessionId } = turn;
    // In the log with the rest of the conversation, and no memory.
    const kind =
      role === "user" && isQuestion(content) ? ({ nodeType: "event", ttlDays: 0 } as const) : {};
    await memory.storeWithReceipt({ content, userId, sessionId, role, requestId, scope, ...kind });
  };
  return async (turn: Turn | undefined, { answer, reason, isObject }: Answered): Promise<void> => {
    if (turn === undefined || store === "nothing" || BROKEN.has(reason)) return;
    const isSaid = !NO_ANSWER.has(reason) && !isObject;
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

/** At most `maxChars` UTF-16 units of a text, without halves of characters. */
export function cut(text: string, maxChars: number): string {
  const start = text.length > maxChars ? text.slice(0, maxChars) : text;
  return start.replace(/[\ud800-\udbff]$/, "").toWellFormed();
}
