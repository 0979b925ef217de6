import { SvcError } from "../../domain/errors.ts";
import type { Turn } from "../../domain/extraction/passages.ts";
import type { ShownText } from "../../domain/extraction/plan/claims.ts";
import {
  type BatchAnswer,
  type ReadTurn,
  readBatchAnswer,
  readSingleAnswer,
} from "../../domain/extraction/read-answer.ts";
import type { FailureCode } from "../../domain/extraction/work.ts";
import type { ReadAnswer, TextModel } from "../../ports/models.ts";
import type { SearchIndex } from "../../ports/store/search-index.ts";
import type { ExtractionQueue } from "../../ports/store/work.ts";
import type { Gate } from "../concurrency.ts";
import type { EngineDeps } from "../deps.ts";
import type {
  ExtractionProvider,
  ExtractionSettings,
  ProviderMemory,
  ProviderTurn,
} from "./api.ts";
import {
  batchRequest,
  type ExtractionRequest,
  PROMPT_VERSION,
  singleRequest,
  spoken,
} from "./request.ts";

export type ExtractDeps = Pick<
  EngineDeps<ExtractionQueue & SearchIndex>,
  "store" | "clock" | "tokenizer" | "dates" | "embedder" | "warn"
> & {
  readonly extractor: Extractor;
  readonly settings: ExtractionSettings & Pick<EngineDeps["settings"], "confidenceOverrides">;
  /** Limits requests to the model. */
  readonly gate: Gate;
};

export type JobOptions = {
  /** Highest order of turns in a request. */
  readonly upTo: number | undefined;
  /** Turns per request. Absent: as many as fit. */
  readonly maxTurns?: number | undefined;
  readonly signal: AbortSignal;
};

type ExtractorSettings = {
  /** Milliseconds for a single turn. */
  readonly timeoutMs: number;
  /** Milliseconds for a request of several turns. */
  readonly batchTimeoutMs: number;
  /** Retries for one turn after an unreadable answer; several turns are asked in halves instead. */
  readonly maxRetries: number;
  /** 0 to 2. */
  readonly temperature: number;
};

/** Asks the model what turns state. The answer is parsed, not yet checked. */
export type Extractor = {
  /** Named in records. */
  readonly provider: string;
  readonly model: string;
  readonly promptVersion: string;
  /** Whether answers about one turn are only checked for grounding, not by all rules. */
  readonly isTrusted: boolean;
  /** @throws SvcError model_failed; model_timeout */
  one(turn: Turn, signal?: AbortSignal): Promise<ReadTurn>;
  /** Turns of one conversation, oldest first, and memories that they may correct. @throws as `one` */
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

/** Sent to the model after an unreadable answer. */
const UNREADABLE = "it is not one complete JSON object of the stated form";

function reading<T>(read: (text: string) => T | undefined): ReadAnswer<T> {
  return (text) => {
    const answer = read(text);
    return answer === undefined ? { problem: UNREADABLE } : { answer };
  };
}

type CustomSettings = Pick<
  ExtractionSettings,
  | "timeoutMs"
  | "batchTimeoutMs"
  | "maxRetries"
  | "speakerGrounding"
  | "batchTargetTokens"
  | "windowTurns"
  | "corrections"
>;

/** Asks a provider of the host program; its answers are parsed from JSON text like all others. @throws SvcError invalid_config */
export function createCustomExtractor(
  provider: ExtractionProvider,
  settings: CustomSettings,
): Extractor {
  requireWhole(provider, settings);
  const { maxRetries, timeoutMs, batchTimeoutMs } = settings;
  return {
    provider: provider.providerName,
    model: provider.modelName,
    promptVersion: "custom",
    isTrusted: true,
    one: async (turn, signal) =>
      await within(timeoutMs, signal, (end) => {
        const about = { ...aboutOf(turn, settings), signal: end };
        return firstRead(
          maxRetries + 1,
          () => provider.extract(turn.content, about),
          (text) => readSingleAnswer(text, { isCustom: true }),
        );
      }),
    several: async (turns, signal, memories = []) =>
      await within(batchTimeoutMs, signal, (end) =>
        firstRead(
          turns.length === 1 ? maxRetries + 1 : 1,
          async () =>
            provider.extractBatch?.(turns.map(toProviderTurn), {
              ...(settings.corrections && { memories: memories.map(toProviderMemory) }),
              signal: end,
            }),
          (text) => readBatchAnswer(text, turns.length),
        ),
      ),
  };
}

function requireWhole(provider: ExtractionProvider, { batchTargetTokens }: CustomSettings): void {
  for (const name of ["providerName", "modelName"] as const) {
    if (typeof provider[name] !== "string" || provider[name].trim() === "") {
      throw unusable(`${name} must be a name that is not blank`);
    }
  }
  if (typeof provider.extract !== "function") throw unusable("extract must be a function");
  if (batchTargetTokens > 0 && typeof provider.extractBatch !== "function") {
    throw unusable("extractBatch is missing; add it, or set extraction_batch_target_tokens to 0");
  }
}

function unusable(reason: string): SvcError {
  return new SvcError("invalid_config", `extractionProvider: ${reason}`, {
    setting: "extractionProvider",
  });
}

async function firstRead<T>(
  tries: number,
  ask: () => Promise<unknown>,
  read: (text: string) => T | undefined,
): Promise<T> {
  for (let left = tries; left > 0; left -= 1) {
    const answer = read(textOf(await ask()));
    if (answer !== undefined) return answer;
  }
  throw failed("ValidationError", "the provider's answers have not the stated form");
}

/** Unreadable if it has no JSON form, such as a cycle. */
function textOf(answer: unknown): string {
  try {
    return JSON.stringify(answer) ?? "";
  } catch {
    return "";
  }
}

async function within<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  ask: (end: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const end = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  return await new Promise<T>((resolve, reject) => {
    const onAbort = (): void =>
      reject(
        signal?.aborted === true
          ? signal.reason
          : failed(
              "TimeoutError",
              `the provider did not answer within ${timeoutMs / 1000} seconds`,
            ),
      );
    if (end.aborted) onAbort();
    end.addEventListener("abort", onAbort, { once: true });
    ask(end)
      .then(resolve, reject)
      .finally(() => end.removeEventListener("abort", onAbort));
  });
}

function failed(name: FailureCode, message: string): SvcError {
  const code = name === "TimeoutError" ? "model_timeout" : "model_failed";
  return new SvcError(code, message, {}, { cause: Object.assign(new Error(name), { name }) });
}

function toProviderTurn({ role, content, speaker, at }: Turn, index: number): ProviderTurn {
  return { index: index + 1, role, content, ...(speaker !== undefined && { speaker }), time: at };
}

function toProviderMemory({ label, text, at, turns }: ShownText): ProviderMemory {
  return { label, text, time: at, turns };
}

/** The message for a turn that is asked alone. */
function aboutOf(
  { role, speaker, reading }: Turn,
  { speakerGrounding, windowTurns }: CustomSettings,
): Omit<Parameters<ExtractionProvider["extract"]>[1], "signal"> {
  const { window = [] } = reading ?? {};
  return {
    role,
    ...(speakerGrounding && { speaker }),
    ...(windowTurns > 0 && { context: window.map((earlier) => spoken(earlier)) }),
  };
}
