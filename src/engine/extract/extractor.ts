import type { ShownText } from "../../domain/extraction/corrections.ts";
import {
  type BatchAnswer,
  readBatchAnswer,
  readSingleAnswer,
} from "../../domain/extraction/read-answer.ts";
import type { ReadTurn } from "../../domain/extraction/read-result.ts";
import type { Turn } from "../../domain/extraction/turn.ts";
import type { ReadAnswer, TextModel } from "../../ports/language-model.ts";
import { batchRequest, type ExtractionRequest, PROMPT_VERSION, singleRequest } from "./request.ts";

/** How a language model is asked to extract. */
export type ExtractorSettings = {
  /** Milliseconds for one turn alone, everything included. */
  readonly timeoutMs: number;
  /** Milliseconds for a request of several turns, or for one that is left of them. */
  readonly batchTimeoutMs: number;
  /** Further tries for one turn, if an answer has not the requested form. Several turns get none: they are asked in halves. */
  readonly maxRetries: number;
  /** 0 to 2. */
  readonly temperature: number;
};

/** Asks a language model what turns state. What it says is read, and not yet believed. */
export type Extractor = {
  /** Named in records. */
  readonly provider: string;
  readonly model: string;
  /** Of what it was told. */
  readonly promptVersion: string;
  /** Whether what it says of one turn is only grounded, and not held against all rules. */
  readonly isTrusted: boolean;
  /** One turn alone. @throws SvcError model_failed, model_timeout */
  one(turn: Turn, signal?: AbortSignal): Promise<ReadTurn>;
  /**
   * Turns of one conversation, oldest first.
   * @param memories that they may correct
   * @throws as `one`
   */
  several(
    turns: readonly Turn[],
    signal?: AbortSignal,
    memories?: readonly ShownText[],
  ): Promise<BatchAnswer>;
};

export function createExtractor(model: TextModel, settings: ExtractorSettings): Extractor {
  const { timeoutMs, batchTimeoutMs, maxRetries, temperature } = settings;
  return {
    provider: model.provider,
    model: model.model,
    promptVersion: PROMPT_VERSION,
    isTrusted: false,
    one: async (turn, signal) => {
      const limits = { timeoutMs, schemaRetries: maxRetries, temperature, signal };
      return await model.ask({ ...singleRequest(turn), ...limits }, reading(readSingleAnswer));
    },
    several: async (turns, signal, memories) => {
      const request: ExtractionRequest = batchRequest(turns, memories);
      const limits = {
        timeoutMs: batchTimeoutMs,
        schemaRetries: turns.length === 1 ? maxRetries : 0,
        temperature,
        signal,
      };
      return await model.ask(
        { ...request, ...limits },
        reading((text) => readBatchAnswer(text, turns.length)),
      );
    },
  };
}

/** What a model is told about an answer that cannot be read: never words of the answer. */
const UNREADABLE = "it is not one complete JSON object of the stated form";

function reading<T>(read: (text: string) => T | undefined): ReadAnswer<T> {
  return (text) => {
    const answer = read(text);
    return answer === undefined ? { problem: UNREADABLE } : { answer };
  };
}
