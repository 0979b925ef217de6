import { providerAddress, statusInWords } from "../../../domain/addresses.ts";
import type { HostedModel } from "../../../domain/hosted-models.ts";
import { pause } from "../../../lib/pause.ts";
import { throughProxy } from "../../network/reach.ts";
import { answerLimit, openingsLimit, readVectors, UnfitAnswerError } from "./answer.ts";
import { type Answer, OversizedError, post } from "./post.ts";

/** Where a model is reached, and how long that may take. */
export type RequestOptions = {
  readonly model: HostedModel;
  /** Default: the provider's own address. */
  readonly baseUrl?: string | undefined;
  /** If undefined, `openai` refuses every call without using the network, unless `baseUrl` names another server. */
  readonly apiKey?: string | undefined;
  /** Milliseconds before the first retry, doubled before the next. Default 500. */
  readonly pauseMs?: number | undefined;
};

/** Asks for the vectors of some texts, in one request that is repeated if need be. */
export type AskVectors = (
  texts: readonly string[],
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
) => Promise<readonly Float32Array[]>;

/** Why no vectors came: a message for a person, without key and text. */
export class RequestFailure extends Error {
  /** Whether the server refused the texts themselves, such as one that is too long for the model. */
  readonly refusesTexts: boolean;

  constructor(message: string, refusesTexts = false) {
    super(message);
    this.refusesTexts = refusesTexts;
  }
}

const RETRIES = 2;
const RETRIED = [408, 409, 429];
const REFUSES_TEXTS = [400, 413, 422];
const PAUSE_MS = 500;

/**
 * Requests to one model. Each takes its time limit at most, retries after lost connections and status 408, 409, 429 and 5xx
 * included. An answer may have as many bytes as the vectors need.
 * Rejects with `RequestFailure`, or the reason of the signal.
 */
export function createRequests(options: RequestOptions): AskVectors {
  const { model, apiKey } = options;
  const { provider, name, dimension } = model;
  const address = providerAddress(provider, options.baseUrl);
  const whose = `${provider} (${name})${throughProxy(address)}`;
  const url = `${address}/embeddings`;
  const isKeyless = apiKey === undefined && options.baseUrl === undefined && provider === "openai";

  const attempt = async (texts: readonly string[], signal: AbortSignal): Promise<Answer> =>
    await post({
      url,
      apiKey,
      body: {
        model: name,
        input: texts.map((text) => text.toWellFormed()),
        encoding_format: "float",
        ...(model.isShortened ? { dimensions: dimension } : {}),
      },
      maxBytes: answerLimit({ count: texts.length, dimension }),
      maxOpenings: openingsLimit({ count: texts.length }),
      signal,
    });

  return async (texts, { timeoutMs, signal }) => {
    if (isKeyless) {
      throw new RequestFailure(`${whose} needs a key: set embedding.api_key, or OPENAI_API_KEY`);
    }
    const deadline = AbortSignal.timeout(timeoutMs);
    const either = AbortSignal.any([signal, deadline]);
    try {
      const answer = await untilGood(
        () => attempt(texts, either),
        options.pauseMs ?? PAUSE_MS,
        either,
      );
      return readVectors(answer, { count: texts.length, dimension });
    } catch (error) {
      signal.throwIfAborted();
      const what = deadline.aborted
        ? `did not answer within ${timeoutMs / 1000} seconds`
        : whatFailed(error);
      const refusesTexts = error instanceof BadStatusError && error.refusesTexts;
      throw new RequestFailure(`${whose} ${what}`, refusesTexts);
    }
  };
}

/** An answer with another status than 200, or none at all, in words without key and text. */
class BadStatusError extends Error {
  readonly refusesTexts: boolean;

  constructor(answer: Answer | undefined) {
    super(inWords(answer));
    this.refusesTexts = answer !== undefined && REFUSES_TEXTS.includes(answer.status);
  }
}

/** The text of the first good answer. @throws BadStatusError after the last retry; what an attempt throws */
async function untilGood(
  attempt: () => Promise<Answer>,
  pauseMs: number,
  signal: AbortSignal,
): Promise<string> {
  for (let tries = 0; ; tries += 1) {
    const answer = await attemptSafely(attempt, signal);
    if (answer?.status === 200) return answer.text;
    if (tries === RETRIES || !isRetried(answer)) throw new BadStatusError(answer);
    await pause(waitBefore(answer, pauseMs * 2 ** tries), signal);
  }
}

function whatFailed(error: unknown): string {
  if (error instanceof OversizedError) return "answered with far more than vectors";
  const isOurs = error instanceof UnfitAnswerError || error instanceof BadStatusError;
  return isOurs ? error.message : "cannot be asked: check the address";
}

/** The answer; undefined if the connection failed. */
async function attemptSafely(
  attempt: () => Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  try {
    return await attempt();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof OversizedError) throw error;
    // The network's own error may name the address, with credentials in it.
    return undefined;
  }
}

function isRetried(answer: Answer | undefined): boolean {
  return answer === undefined || answer.status >= 500 || RETRIED.includes(answer.status);
}

function inWords(answer: Answer | undefined): string {
  if (answer === undefined) return "cannot be reached: check the network and the address";
  const { status } = answer;
  if (REFUSES_TEXTS.includes(status)) {
    return `refused the request (status ${status}): embedding.max_tokens may be more than the model reads, or the model none for embeddings`;
  }
  return statusInWords(status);
}

/** Milliseconds before a retry: what the server says, or the given time. */
function waitBefore(answer: Answer | undefined, milliseconds: number): number {
  const seconds = Number(answer?.headers.get("retry-after") ?? Number.NaN);
  const wait = Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : milliseconds;
  return Math.min(wait, MAX_WAIT_MS);
}

/** Longer than any time limit; a timer cannot wait for much longer. */
const MAX_WAIT_MS = 3_600_000;
