import { AsyncLocalStorage } from "node:async_hooks";
import type { LanguageModel as SdkModel } from "ai";
import { providerAddress, statusInWords } from "../../domain/addresses.ts";
import { SvcError } from "../../domain/errors.ts";
import { type FailureCode, failureOfStatus } from "../../domain/extraction/work.ts";
import { untilAborted } from "../../lib/pause.ts";
import { bounded, reach } from "../network/reach.ts";

const TRANSPORT_RETRIES = 2;
/** Bytes of one answer; the longest useful ones have a few million. */
const MAX_BYTES = 16 * 1024 * 1024;

type Bounds = { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined };

/** What a call gets from its provider: the model, and the settings of every request to it. */
export type Called = Pick<LoadedProvider, "model"> & {
  readonly settings: LoadedProvider["settings"] & {
    readonly maxRetries: number;
    readonly abortSignal: AbortSignal;
  };
};

/** Calls a model. @throws SvcError model_failed, model_timeout, without the texts that the errors of the library carry */
type CallModel = <T>(bounds: Bounds, call: (called: Called) => Promise<T>) => Promise<T>;

/**
 * A model behind the AI SDK. Its client is loaded by the first call. The time limit of a call covers everything: loading, retries and
 * pauses. If it ends in a pause, the last failure is reported.
 * @param maxBytes of one answer
 */
export function createCaller(options: LanguageModelOptions, maxBytes = MAX_BYTES): CallModel {
  let loaded: Promise<LoadedProvider> | undefined;
  return async (bounds, call) => {
    bounds.signal?.throwIfAborted();
    if (options.provider !== "ollama" && options.apiKey === undefined) throw keyMissing(options);
    const deadline = AbortSignal.timeout(bounds.timeoutMs);
    const signal = AbortSignal.any([
      deadline,
      ...(bounds.signal === undefined ? [] : [bounds.signal]),
    ]);
    loaded ??= loadProvider(options);
    const watch: Watch = { maxBytes, failure: undefined };
    try {
      const { model, settings } = await loaded;
      // By default the library prints its warnings to standard output, which belongs to the protocol.
      globalThis.AI_SDK_LOG_WARNINGS = false;
      const maxRetries = options.transportRetries ?? TRANSPORT_RETRIES;
      const called = { model, settings: { ...settings, maxRetries, abortSignal: signal } };
      const answer = watched(watch, () => call(called));
      return await untilAborted(answer, signal);
    } catch (error) {
      bounds.signal?.throwIfAborted();
      if (error instanceof SvcError) throw error;
      const known = watch.failure;
      if (deadline.aborted) throw timedOut(options, bounds.timeoutMs, known, maxBytes);
      throw callFailed(options, known ?? (await failureOf(error)), maxBytes);
    }
  };
}

async function failureOf(error: unknown): Promise<CallFailure> {
  const { APICallError, RetryError } = await import("ai");
  const last = RetryError.isInstance(error) ? error.lastError : error;
  if (APICallError.isInstance(last)) return last.statusCode ?? "unreachable";
  return { name: last instanceof Error ? last.name : "unknown failure" };
}

/** The hosted services, or a server on this network with the OpenAI protocol, such as Ollama. */
export const LANGUAGE_MODEL_PROVIDERS = ["openai", "anthropic", "ollama"] as const;
export type LanguageModelProvider = (typeof LANGUAGE_MODEL_PROVIDERS)[number];

type ReasoningEffort = "none" | "low" | "medium" | "high";

export type LanguageModelOptions = {
  readonly provider: LanguageModelProvider;
  readonly model: string;
  /** If undefined, a hosted provider rejects every call without using the network; `ollama` needs none. */
  readonly apiKey?: string | undefined;
  /** Default: the provider's own address, and `http://localhost:11434/v1` for `ollama`. */
  readonly baseUrl?: string | undefined;
  /** Undefined: not sent, and `none` for `ollama`. Never sent to `anthropic`. */
  readonly reasoningEffort?: ReasoningEffort | undefined;
  /** Retries after a lost connection and status 408, 409, 429 and 5xx. Default 2. */
  readonly transportRetries?: number | undefined;
};

/** A provider's client, ready for calls. */
type LoadedProvider = {
  readonly model: SdkModel;
  /** Additional settings of every call to this provider. */
  readonly settings: {
    readonly providerOptions?: Record<string, Record<string, string>>;
    readonly maxOutputTokens?: number;
  };
};

/** The protocol of `anthropic` requires a limit. */
const ANTHROPIC_MAX_TOKENS = 4096;

/** Loads the client of one provider. Each is its own module, and none is loaded before the first question. */
async function loadProvider(options: LanguageModelOptions): Promise<LoadedProvider> {
  const { provider, model, reasoningEffort } = options;
  // Always pass both: otherwise the clients would read the environment themselves.
  const baseURL = providerAddress(provider, options.baseUrl);
  const apiKey = options.apiKey ?? "";
  switch (provider) {
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return {
        model: createOpenAI({ apiKey, baseURL, fetch: boundedFetch }).chat(model),
        settings:
          reasoningEffort === undefined ? {} : { providerOptions: { openai: { reasoningEffort } } },
      };
    }
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return {
        model: createAnthropic({ apiKey, baseURL, fetch: boundedFetch }).languageModel(model),
        settings: { maxOutputTokens: ANTHROPIC_MAX_TOKENS },
      };
    }
    case "ollama": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const client = createOpenAICompatible({
        name: "ollama",
        baseURL,
        supportsStructuredOutputs: true,
        fetch: boundedFetch,
        ...(options.apiKey === undefined ? {} : { apiKey: options.apiKey }),
      });
      return {
        model: client.chatModel(model),
        // Without it, reasoning models spend the time limit on unread reasoning.
        settings: { providerOptions: { ollama: { reasoningEffort: reasoningEffort ?? "none" } } },
      };
    }
  }
}

/** How a model call may end, and its current state. */
type Watch = {
  /** Bytes of one answer. */
  readonly maxBytes: number;
  /** Why the last request failed; undefined while it runs, and after success. */
  failure: RequestFailure | undefined;
};

/** An unsuccessful HTTP status; a failed connection; an oversized answer. */
type RequestFailure = number | "unreachable" | "oversized";
/** Why a call failed, without the texts in the library's errors: else the name of its error. */
type CallFailure = RequestFailure | { readonly name: string };

const watches = new AsyncLocalStorage<Watch>();

/** Lists and objects of one answer. */
const MAX_OPENINGS = 100_000;

/** Calls a model. Its requests, including retries, are bounded and recorded by `watch`. */
function watched<T>(watch: Watch, call: () => Promise<T>): Promise<T> {
  return watches.run(watch, call);
}

/**
 * The fetch used by providers' client libraries: oversized answers fail, and redirects are not followed, since they would take text and key
 * to an address that was not configured.
 */
const boundedFetch: typeof fetch = Object.assign(
  async (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const watch = watches.getStore();
    if (watch === undefined) throw new Error("a request came past its watch");
    watch.failure = undefined;
    const response = await reach(input, { ...init, redirect: "manual" }).catch((error) => {
      if (init?.signal?.aborted !== true) watch.failure = "unreachable";
      throw error;
    });
    if (!response.ok) watch.failure = response.status;
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    const bounds = { bytes: watch.maxBytes, openings: MAX_OPENINGS };
    const body = bounded(response.body, bounds, () => {
      // The status of a failed answer suffices.
      watch.failure ??= "oversized";
    });
    return new Response(body, { status, statusText, headers });
  },
  { preconnect: fetch.preconnect },
);

/** The error of a failed call. The library's own error is left out: it contains prompt, answer and headers. */
function callFailed(
  options: LanguageModelOptions,
  failure: CallFailure,
  maxBytes: number,
): SvcError {
  const { provider, model } = options;
  const status = typeof failure === "number" ? { status: failure } : {};
  return new SvcError(
    "model_failed",
    `${provider} (${model}) ${explain(failure, maxBytes)}`,
    { provider, model, ...status },
    { cause: causeOf(failure) },
  );
}

/** Callers branch on the names of causes. */
function named(name: FailureCode): Error {
  return Object.assign(new Error(name), { name });
}

function causeOf(failure: CallFailure): Error | undefined {
  if (typeof failure === "number") return named(failureOfStatus(failure) ?? "ValidationError");
  if (failure === "oversized") return named("ValidationError");
  return failure === "unreachable" ? named("APIConnectionError") : undefined;
}

function explain(failure: CallFailure, maxBytes: number): string {
  if (typeof failure === "number") return statusInWords(failure);
  if (failure === "unreachable") return "cannot be reached: check the network and the address";
  if (failure !== "oversized") return `could not answer (${failure.name})`;
  return `answered with far more than was asked for (more than ${maxBytes} bytes, or too many lists); what it sent was not read`;
}

function keyMissing({ provider, model }: LanguageModelOptions): SvcError {
  return new SvcError(
    "model_failed",
    `${provider} needs a key: set the api_key of its settings, or ${provider.toUpperCase()}_API_KEY`,
    { provider, model },
    { cause: named("AuthenticationError") },
  );
}

/** No answer had the requested form. */
export function formMissed({ provider, model }: LanguageModelOptions, tries: number): SvcError {
  const times = tries === 1 ? "once" : `${tries} times`;
  return new SvcError(
    "model_failed",
    `${provider} (${model}) answered ${times}, but not in the requested form; a larger model may help`,
    { provider, model },
    { cause: named("ValidationError") },
  );
}

/** No answer within the limit. @param failure why the last request had failed, before a retry; undefined: it was still running */
function timedOut(
  { provider, model }: LanguageModelOptions,
  timeoutMs: number,
  failure: CallFailure | undefined,
  maxBytes: number,
): SvcError {
  const what =
    failure === undefined
      ? `did not answer within ${timeoutMs / 1000} seconds`
      : explain(failure, maxBytes);
  return new SvcError(
    "model_timeout",
    `${provider} (${model}) ${what}`,
    { provider, model },
    { cause: (failure === undefined ? undefined : causeOf(failure)) ?? named("TimeoutError") },
  );
}
